#include <unistd.h>

#include "runner/steps/ray_command.h"
#include "runner/steps/step.h"

namespace lockstep::runner {
namespace {

Result<std::string> shell_for(const LaunchContext& context) {
  if (context.container == nullptr)
    return std::string(access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
  if (!context.container->shell.empty()) return context.container->shell;
  return make_error(ErrorCode::unsupported,
                    "the image has no shell (/bin/bash, /bin/sh) for the command: give the command "
                    "as words after --");
}

// Sets the program that the job names as the rank's command.
Status set_own_command(const LaunchContext& context, spawn::RankProcess& process) {
  const Command& command = context.gang->assignment.spec.command;
  if (const auto* shell = std::get_if<ShellCommand>(&command)) {
    TRY_ASSIGN(const std::string program, shell_for(context));
    process.program = program;
    process.argv = {program, "-c", put_in_paths(context, shell->text)};
    return {};
  }
  process.argv = std::get<Argv>(command).words;
  if (process.argv.empty()) return make_error(ErrorCode::invalid_argument, "the command is empty");
  for (std::string& word : process.argv) word = put_in_paths(context, word);
  process.program = process.argv[0];
  return {};
}

// Sets Ray's command. A script starts Ray's ranks, so an image without a shell cannot run them.
Status set_ray_command(const LaunchContext& context, spawn::RankProcess& process) {
  TRY_ASSIGN(const std::string shell, shell_for(context));
  process.argv = ray_words(*context.gang, shell, process.argv);
  process.program = shell;
  return {};
}

}  // namespace

Status set_command(const LaunchContext& context, RankLaunch& rank) {
  spawn::RankProcess& process = rank.process;
  process.cwd = context.directory;
  process.path = process.environment["PATH"];
  TRY(set_own_command(context, process));
  const bool is_ray = context.gang->assignment.spec.distribution.kind == Distribution::Kind::ray;
  return is_ray ? set_ray_command(context, process) : Status();
}

}  // namespace lockstep::runner
