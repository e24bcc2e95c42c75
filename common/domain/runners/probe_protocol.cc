#include "common/domain/runners/probe_protocol.h"

namespace lockstep {

Word describe(PathState state) {
  switch (state) {
    case PathState::reached: return {1, "reached"};
    case PathState::no_route: return {2, "no_route"};
    case PathState::refused: return {3, "refused"};
    case PathState::timed_out: return {4, "timed_out"};
    case PathState::large_packets_lost: return {5, "large_packets_lost"};
    case PathState::other_host: return {6, "other_host"};
  }
  return {};
}

}  // namespace lockstep
