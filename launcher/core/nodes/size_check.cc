#include "launcher/core/nodes/size_check.h"

#include <algorithm>

#include "common/domain/why/nodes/nodes.h"
#include "launcher/core/base/sizes.h"
#include "launcher/core/nodes/shared_machine.h"
#include "launcher/core/placement/host_labels.h"
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

const Size* size_of_target(const Cluster& cluster, const std::string& target) {
  const Compute* compute = cluster.state.computes().find(target);
  if (compute == nullptr) return nullptr;
  return size_called(cluster.state, cluster.config, compute->spec.size);
}

namespace {

// True if no machine that the target does not have yet would have the labels that a part asks for.
bool excluded_by_labels(const State& state, const Compute* compute, const Shape& shape) {
  if (shape.labels.empty()) return false;
  if (compute == nullptr) return true;
  if (compute->spec.source != NodeSource::ssh) return !would_have(*compute, "", shape.labels);
  const SuitedHosts hosts = suited_hosts(state, *compute, shape);
  return hosts.without_node == 0 || hosts.all < shape.nodes;
}

}  // namespace

bool excludes_new_machines(const Cluster& cluster, const std::string& target, const Shape& shape) {
  // Containers share this machine with each other and with its own node, pods theirs with others.
  const Compute* compute = cluster.state.computes().find(target);
  if (excluded_by_labels(cluster.state, compute, shape)) return true;
  const NodeSource source = compute == nullptr ? NodeSource::none : compute->spec.source;
  if (shape.isolated && (source == NodeSource::docker || source == NodeSource::kubernetes))
    return true;
  for (const std::string& name : shape.names)
    if (cluster.state.computes().host_of(target, name) == nullptr) return true;
  const Size* size = size_of_target(cluster, target);
  if (size == nullptr) return false;
  return shape.cpus.value_or(1) > size->vcpus || shape.memory.value_or(Bytes{}) > size->memory ||
         std::max(shape.gpus.value_or(0), shape.gpus_at_least) > size->gpus ||
         (shape.isolated && !size->isolated) || (shape.rdma == Rdma::required && !size->rdma);
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
