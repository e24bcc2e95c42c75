#include "common/domain/runners/assignment.h"

namespace lockstep {

Word describe(WantedPhase phase) {
  switch (phase) {
    case WantedPhase::prepare: return {1, "prepare"};
    case WantedPhase::run: return {2, "run"};
    case WantedPhase::stop: return {3, "stop"};
  }
  return {};
}
std::string_view to_string(WantedPhase phase) { return describe(phase).word; }

Word describe(StopReason reason) {
  switch (reason) {
    case StopReason::canceled: return {1, "canceled"};
    case StopReason::gang_failed: return {2, "gang_failed"};
    case StopReason::superseded: return {3, "superseded"};
  }
  return {};
}
std::string_view to_string(StopReason reason) { return describe(reason).word; }

Word describe(PartState state) {
  switch (state) {
    case PartState::staging: return {1, "staging"};
    case PartState::prepared: return {2, "prepared"};
    case PartState::running: return {3, "running"};
    case PartState::stopping: return {4, "stopping"};
    case PartState::collecting: return {6, "collecting"};
    case PartState::finished: return {5, "finished"};
  }
  return {};
}
std::string_view to_string(PartState state) { return describe(state).word; }

}  // namespace lockstep
