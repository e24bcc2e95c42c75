#include "launcher/core/placement/new_machines.h"

#include <algorithm>

#include "launcher/core/base/sizes.h"
#include "launcher/core/placement/host_labels.h"

namespace lockstep::launcher {

namespace {

// True if no machine that the target could still make would have the labels that the part asks for.
bool excluded_by_labels(const State& state, const Compute* compute, const Shape& shape) {
  if (shape.labels.empty()) return false;
  if (compute == nullptr) return true;
  if (compute->spec.source != NodeSource::ssh) return !would_have(*compute, "", shape.labels);
  const SuitedHosts hosts = suited_hosts(state, *compute, shape);
  return hosts.without_node == 0 || hosts.all < shape.nodes;
}

}  // namespace

const Size* size_of_target(const Cluster& cluster, const std::string& target) {
  const Compute* compute = cluster.state.computes().find(target);
  if (compute == nullptr) return nullptr;
  return size_called(cluster.state, cluster.config, compute->spec.size);
}

bool excludes_new_machines(const Cluster& cluster, const std::string& target, const Shape& shape) {
  // Containers share this machine with each other and with its own node; pods share theirs with
  // other pods.
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

}  // namespace lockstep::launcher
