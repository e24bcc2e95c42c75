#include "common/domain/messages/assignment.h"

namespace lockstep {

std::string_view to_string(WantedPhase phase) {
  switch (phase) {
    case WantedPhase::prepare: return "prepare";
    case WantedPhase::run: return "run";
    case WantedPhase::stop: return "stop";
  }
  return "stop";
}

Word describe(StopReason reason) {
  switch (reason) {
    case StopReason::canceled: return {1, "canceled"};
    case StopReason::gang_failed: return {2, "gang_failed"};
    case StopReason::superseded: return {3, "superseded"};
  }
  return {};
}
std::string_view to_string(StopReason reason) { return describe(reason).word; }

std::string_view to_string(PartState state) {
  switch (state) {
    case PartState::staging: return "staging";
    case PartState::prepared: return "prepared";
    case PartState::running: return "running";
    case PartState::stopping: return "stopping";
    case PartState::collecting: return "collecting";
    case PartState::finished: return "finished";
  }
  return "finished";
}

}  // namespace lockstep
