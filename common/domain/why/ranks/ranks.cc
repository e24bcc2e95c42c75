#include "common/domain/why/ranks/ranks.h"

namespace lockstep {

std::string_view to_string(StartStep step) {
  switch (step) {
    case StartStep::start: return "start";
    case StartStep::fork: return "fork";
    case StartStep::directory: return "directory";
    case StartStep::user: return "user";
    case StartStep::rlimits: return "rlimits";
    case StartStep::cpus: return "cpus";
    case StartStep::cgroups: return "cgroups";
    case StartStep::stdio: return "stdio";
    case StartStep::exec: return "exec";
  }
  return "start";
}

}  // namespace lockstep
