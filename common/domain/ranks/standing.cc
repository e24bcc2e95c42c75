#include "common/domain/ranks/standing.h"

namespace lockstep {

Word describe(Doing doing) {
  switch (doing) {
    case Doing::starts: return {1, "starts"};
    case Doing::computes: return {2, "computes"};
    case Doing::waits_peer: return {3, "waits"};
    case Doing::reads: return {4, "reads"};
    case Doing::locks: return {5, "locks"};
    case Doing::sleeps: return {6, "sleeps"};
    case Doing::serves: return {7, "serves"};
    case Doing::stopped: return {8, "stopped"};
    case Doing::device: return {9, "device"};
    case Doing::exited: return {10, "exited"};
  }
  return {};
}
std::string_view to_string(Doing doing) { return describe(doing).word; }

}  // namespace lockstep
