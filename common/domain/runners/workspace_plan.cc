#include "common/domain/runners/workspace_plan.h"

namespace lockstep {

Word describe(WorkspacePlan::Mode mode) {
  switch (mode) {
    case WorkspacePlan::Mode::overlay: return {1, "overlay"};
    case WorkspacePlan::Mode::overlay_userns: return {2, "overlay_userns"};
    case WorkspacePlan::Mode::ready: return {3, "ready"};
  }
  return {};
}

}  // namespace lockstep
