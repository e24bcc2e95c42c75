#include "runner/spawn/start_failure.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace lockstep::spawn {
namespace {

const char* name_of(SpawnStage stage) {
  switch (stage) {
    case SpawnStage::fork: return "fork";
    case SpawnStage::chdir: return "enter the working directory";
    case SpawnStage::ids: return "become the run-as user";
    case SpawnStage::rlimit: return "set limits";
    case SpawnStage::affinity: return "bind to cpus";
    case SpawnStage::cgroup: return "join cgroups";
    case SpawnStage::stdio: return "set up stdio";
    case SpawnStage::exec: return "exec";
  }
  return "start";
}

// The text of a failed exec, which returns ENOENT also for a script whose interpreter is missing.
std::string exec_error(const std::string& program, int error) {
  const bool is_path = program.find('/') != std::string::npos;
  return fmt::format("{}{}: {}", program,
                     error == ENOENT && is_path ? " (or the interpreter in its #! line)" : "",
                     std::strerror(error));
}

}  // namespace

int exit_code_of(int error, SpawnStage stage) {
  if (stage != SpawnStage::exec) return 125;
  if (error == ENOENT || error == ENOTDIR) return 127;
  return error == E2BIG || error == ENOMEM ? 125 : 126;
}

std::string why_not_started(const std::string& program, int error, SpawnStage stage) {
  if (stage == SpawnStage::exec) return exec_error(program, error);
  return fmt::format("cannot {}: {}", name_of(stage), std::strerror(error));
}

}  // namespace lockstep::spawn
