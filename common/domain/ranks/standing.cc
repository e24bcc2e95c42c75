#include "common/domain/ranks/standing.h"

namespace lockstep {

std::string_view to_string(Doing doing) {
  switch (doing) {
    case Doing::starts: return "starts";
    case Doing::computes: return "computes";
    case Doing::waits_peer: return "waits";
    case Doing::reads: return "reads";
    case Doing::locks: return "locks";
    case Doing::sleeps: return "sleeps";
    case Doing::serves: return "serves";
    case Doing::stopped: return "stopped";
    case Doing::device: return "device";
    case Doing::exited: return "exited";
  }
  return "computes";
}

}  // namespace lockstep
