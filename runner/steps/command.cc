#include <unistd.h>

#include "runner/steps/step.h"

namespace lockstep::runner {

Status set_command(const LaunchContext& context, RankLaunch& rank) {
  spawn::RankProcess& process = rank.process;
  process.cwd = context.directory;
  process.path = process.environment["PATH"];
  const Command& command = context.gang->assignment.spec.command;
  if (const auto* shell = std::get_if<ShellCommand>(&command)) {
    const char* program = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
    process.program = program;
    process.argv = {program, "-c", put_in_outputs(shell->text, context.outputs)};
    return {};
  }
  process.argv = std::get<Argv>(command).words;
  if (process.argv.empty()) return make_error(ErrorCode::invalid_argument, "the command is empty");
  process.program = process.argv[0];
  return {};
}

}  // namespace lockstep::runner
