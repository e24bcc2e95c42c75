#include "launcher/core/placement/wait_for_machines.h"

#include "common/domain/why/nodes/machines.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/core/placement/new_machines.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/rdma_fabric.h"

namespace lockstep::launcher {

namespace {

// The provider's reason about the first machine that it has accepted and not made yet.
Why why_machines_wait(const Cluster& cluster, const std::string& target) {
  if (cluster.calls == nullptr) return {};
  const auto known = cluster.calls->targets.find(target);
  if (known == cluster.calls->targets.end()) return {};
  for (const auto& [name, record] : known->second.machines)
    if (record.waiting) return record.waiting->why;
  return {};
}

}  // namespace

const Compute* elastic(const State& state, const std::string& target) {
  const Compute* compute = state.computes().find(target);
  return compute != nullptr && is_elastic(compute->spec) && !compute->leaving ? compute : nullptr;
}

bool unfit(const Cluster& cluster, const std::string& target, const Shape& shape) {
  if (excludes_new_machines(cluster, target, shape)) return true;
  const Compute* compute = cluster.state.computes().find(target);
  if (compute != nullptr && outlives_machines(*compute, shape.lasts)) return true;
  const MachineSamples* samples = cluster.samples;
  if (samples == nullptr) return false;
  if (samples->why_lacking(target, shape.run_as, cluster.now) != nullptr) return true;
  const Inventory* sample = samples->of(target);
  if (sample == nullptr) return false;
  if (shape.rdma == Rdma::required && why_no_rdma(*sample, shape.nodes == 1)) return true;
  return static_cast<bool>(too_small(*sample, shape));
}

Why waits_for_machines(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  const State& state = cluster.state;
  const Compute* compute = elastic(state, pool);
  if (compute == nullptr) return {};
  const int hosts = static_cast<int>(compute->spec.hosts.size());
  if (compute->spec.source == NodeSource::ssh && shape.nodes > hosts)
    return NeedsMoreHosts{asked_for(shape), pool, hosts};
  if (shape.nodes > most_machines(compute->spec) || unfit(cluster, pool, shape)) return {};
  WaitsForMachines reason;
  reason.asked = asked_for(shape);
  reason.target = pool;
  reason.nodes = static_cast<std::int64_t>(state.computes().nodes_of(pool).size());
  for (const auto& [name, machine] : compute->machines) {
    if (machine.is_leaving())
      ++reason.leaving;
    else if (machine.node.value == 0)
      ++reason.coming;
  }
  reason.pending = why_machines_wait(cluster, pool);
  reason.failure = compute->failure;
  if (compute->failure && compute->not_before > cluster.now) reason.retry_at = compute->not_before;
  return reason;
}

}  // namespace lockstep::launcher
