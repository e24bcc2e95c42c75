#include "launcher/core/nodes/size_check.h"

#include <algorithm>

#include "common/domain/why/nodes/nodes.h"
#include "launcher/core/base/sizes.h"
#include "launcher/core/nodes/machine_claims.h"
#include "launcher/core/placement/new_machines.h"
#include "launcher/core/placement/rdma_fabric.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

Why shortfall(const Inventory& inventory, const Size& size) {
  const int cpus = static_cast<int>(inventory.cpus.size());
  const int gpus = static_cast<int>(inventory.gpus.size());
  if (cpus < size.vcpus) return NodeHasFewerThanSize{NodeAmount::cpus, cpus, size.name, size.vcpus};
  const double least = static_cast<double>(size.memory.count) * (1 - kMemoryTolerance);
  if (static_cast<double>(inventory.memory.count) < least)
    return NodeHasLessMemoryThanSize{inventory.memory, size.name, size.memory};
  if (gpus < size.gpus) return NodeHasFewerThanSize{NodeAmount::gpus, gpus, size.name, size.gpus};
  if (!size.rdma) return {};
  if (Why why = why_no_rdma(inventory, true)) return NodeLacksRdmaOfSize{std::move(why), size.name};
  return {};
}

void check_size_of_node(Context& core, NodeId id) {
  const Node* node = core.state.node(id);
  if (node == nullptr || !node->session) return;
  const Size* size = size_of_target(core.cluster(), node->pool);
  Why why = size == nullptr ? Why() : shortfall(node->inventory, *size);
  if (!why) why = claims_anothers(core, *node);
  if (!why) why = oversold(core, *node);
  core.watches.set_shortfall(id, std::move(why));
}

void check_size_of_target(Context& core, const std::string& target) {
  for (const Node& node : core.state.nodes_of(target)) check_size_of_node(core, node.id);
  core.scheduler.topology_changed(target);
}

void size_changed(Context& core, const std::string& size) {
  for (const std::string& target : targets_of_size(core.state, size))
    check_size_of_target(core, target);
}

}  // namespace lockstep::launcher
