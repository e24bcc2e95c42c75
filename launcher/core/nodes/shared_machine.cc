#include "launcher/core/nodes/shared_machine.h"

#include <set>

#include "launcher/core/nodes/size_check.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

void note_machine(Context& core, NodeId id, const MachinePart& machine) {
  const MachinePart before = core.watches.machine_of(id);
  if (before == machine) return;
  core.watches.set_machine(id, machine);
  for (const NodeId other : core.watches.on_machine(before.id)) machine_changed(core, other);
  machine_changed(core, id);
}

void machine_changed(Context& core, NodeId id) {
  std::set<NodeId> touched = core.watches.on_machine(core.watches.machine_of(id).id);
  touched.insert(id);
  const Node* node = core.state.node(id);
  if (node != nullptr && !core.config.shared_machines)
    touched.merge(std::set<NodeId>(core.state.nodes_on_host(node->inventory.host_id)));
  for (const NodeId each : touched) {
    const Node* known = core.state.node(each);
    if (known == nullptr) continue;
    check_size_of_node(core, each);
    if (each != id) core.scheduler.topology_changed(known->pool);
  }
}

}  // namespace lockstep::launcher
