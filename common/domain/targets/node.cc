#include "common/domain/targets/node.h"

namespace lockstep {

std::string_view to_string(Liveness liveness) {
  switch (liveness) {
    case Liveness::alive: return "ALIVE";
    case Liveness::unknown: return "UNKNOWN";
    case Liveness::lost: return "LOST";
  }
  return "UNKNOWN";
}

}  // namespace lockstep
