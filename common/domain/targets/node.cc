#include "common/domain/targets/node.h"

namespace lockstep {

Word describe(Liveness liveness) {
  switch (liveness) {
    case Liveness::alive: return {1, "ALIVE"};
    case Liveness::unknown: return {2, "UNKNOWN"};
    case Liveness::lost: return {3, "LOST"};
  }
  return {};
}
std::string_view to_string(Liveness liveness) { return describe(liveness).word; }

}  // namespace lockstep
