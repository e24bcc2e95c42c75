#include "launcher/core/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/domain/why/nodes/placement.h"
#include "launcher/core/placement/in_vain.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/rdma_fabric.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

// The end of a part's fence. The wall clock may have been changed while no launcher ran, so a fence
// from before the start is counted anew.
Instant end_of_fence(const Cluster& cluster, const Part& part) {
  const Part::Gone& gone = *part.gone();
  if (gone.at >= cluster.recovered_at) return gone.fenced_until;
  return std::max(gone.fenced_until, cluster.recovered_at + (gone.fenced_until - gone.at));
}

}  // namespace

const Part* longest_fence(const Cluster& cluster, const Job& job) {
  const Part* longest = nullptr;
  for (const Attempt& attempt : job.attempts) {
    for (const Part& part : attempt.parts) {
      if (!part.fenced() || end_of_fence(cluster, part) <= cluster.now) continue;
      if (longest == nullptr || end_of_fence(cluster, part) > end_of_fence(cluster, *longest))
        longest = &part;
    }
  }
  return longest;
}

Instant ready_at(const Cluster& cluster, const Job& job) {
  const Part* fence = longest_fence(cluster, job);
  const Instant not_before = job.waiting().not_before;
  return fence == nullptr ? not_before : std::max(not_before, end_of_fence(cluster, *fence));
}

std::optional<Error> never_possible(const Cluster& cluster, const JobSpec& spec) {
  const std::string pool = cluster.state.computes().pool_of(spec.compute);
  if (const Compute* compute = cluster.state.computes().find(pool);
      compute != nullptr && is_elastic(compute->spec)) {
    // Hosts of a cluster come and go, and an admin may change the target while a job waits, so only
    // this reason is definite.
    if (const Why why = outlives_machines(*compute, spec.timeout))
      return make_error(ErrorCode::unsatisfiable, words::text_of(why));
    const int most = compute->spec.scale.max_instances, nodes = spec.resources.instance_count;
    if (nodes <= most) return std::nullopt;
    if (compute->instance)
      return make_error(
          ErrorCode::unsatisfiable,
          fmt::format("needs {} nodes, but target '{}' is a compute instance, which has "
                      "one; use a target of type amlcompute",
                      nodes, pool));
    return make_error(
        ErrorCode::unsatisfiable,
        fmt::format("needs {} nodes, but target '{}' has at most {}; an admin can raise that with "
                    "`lockstep compute update {} --max-instances {}`",
                    nodes, pool, most, pool, nodes));
  }
  return pool == kLocalCompute ? beyond_fixed_nodes(cluster, shape_of(spec)) : std::nullopt;
}

std::vector<Why> explain_nodes(const Cluster& cluster, const Job& job) {
  const Shape shape = shape_of(job);
  const PoolNodes nodes = cluster.state.nodes_of(job.pool);
  std::vector<Why> reasons;
  for (const Node& node : nodes) {
    if (reasons.size() >= kMaxWhyLines) {
      reasons.push_back(MoreNodes{static_cast<std::int64_t>(nodes.size() - reasons.size())});
      break;
    }
    Why why = never_fits(cluster, node, shape);
    if (!why) why = not_now(cluster, node, shape);
    if (why) {
      reasons.push_back(NodePassedOver{node.name, std::move(why)});
      continue;
    }
    NodeCouldRun could{node.name, {}};
    if (shape.rdma == Rdma::preferred) could.rdma = has_active_port(node.inventory);
    reasons.push_back(std::move(could));
  }
  return reasons;
}

}  // namespace lockstep::launcher
