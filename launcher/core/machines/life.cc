#include "launcher/core/machines/life.h"

#include <algorithm>
#include <vector>

#include "common/domain/why/nodes/losses.h"
#include "launcher/core/nodes/preemption.h"
#include "launcher/core/placement/machine_end.h"

namespace lockstep::launcher {

void leave_ending_machines(Context& core, const std::string& target) {
  const Compute* compute = core.state.computes().find(target);
  if (compute == nullptr) return;
  struct Ending {
    NodeId node;
    Duration left, lifetime;
  };
  std::vector<Ending> ending;
  for (const auto& [name, machine] : compute->machines) {
    const Node* node = machine.node.value == 0 ? nullptr : core.state.node(machine.node);
    if (machine.ends == Instant() || node == nullptr || node->lost || node->notice) continue;
    const Duration left = machine.ends - core.now;
    if (left > notice_before_end(machine.lifetime)) continue;
    ending.push_back({node->id, std::max<Duration>(left, Duration(0)), machine.lifetime});
  }
  for (const Ending& one : ending) take_notice(core, one.node, one.left, MachineEnds{one.lifetime});
}

}  // namespace lockstep::launcher
