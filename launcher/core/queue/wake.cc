#include "launcher/core/queue/wake.h"

#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

void usability_changed(Context& core, const Node& node) {
  core.scheduler.capacity_changed(node.pool);
  if (!node.machine.empty()) core.pending.dirty_targets.insert(node.pool);
}

}  // namespace lockstep::launcher
