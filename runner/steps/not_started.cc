#include "runner/steps/not_started.h"

#include <cerrno>
#include <cstring>

#include "common/domain/why/ranks/ranks.h"

namespace lockstep::runner {
namespace {

StartStep step_of(spawn::SpawnStage stage) {
  switch (stage) {
    case spawn::SpawnStage::fork: return StartStep::fork;
    case spawn::SpawnStage::chdir: return StartStep::directory;
    case spawn::SpawnStage::ids: return StartStep::user;
    case spawn::SpawnStage::rlimit: return StartStep::rlimits;
    case spawn::SpawnStage::affinity: return StartStep::cpus;
    case spawn::SpawnStage::cgroup: return StartStep::cgroups;
    case spawn::SpawnStage::stdio: return StartStep::stdio;
    case spawn::SpawnStage::exec: return StartStep::exec;
  }
  return StartStep::start;
}

}  // namespace

Why start_failure_of(const std::string& program, int error, spawn::SpawnStage stage) {
  RankNotStarted why;
  why.step = step_of(stage);
  why.said = std::strerror(error);
  if (why.step != StartStep::exec) return why;
  why.program = program;
  // execve returns ENOENT also for a script whose interpreter is missing.
  why.may_lack_interpreter = error == ENOENT && program.find('/') != std::string::npos;
  return why;
}

}  // namespace lockstep::runner
