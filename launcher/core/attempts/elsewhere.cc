#include "launcher/core/attempts/elsewhere.h"

#include <algorithm>
#include <set>
#include <string>

#include "common/domain/why/jobs/ends.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/shape.h"
#include "launcher/state/absences.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMostNamedNodes = 8;

// The hosts of these nodes. Other nodes on the same host have the same files, so they are not
// tried.
std::set<std::string> hosts_of(const State& state, const std::set<NodeId>& nodes) {
  std::set<std::string> hosts;
  for (const NodeId id : nodes) {
    const Node* node = state.node(id);
    if (node != nullptr && !node->inventory.host_id.empty()) hosts.insert(node->inventory.host_id);
  }
  return hosts;
}

}  // namespace

std::optional<Retry> retry_elsewhere(const Cluster& cluster, const Job& job) {
  if (job.cancel_by || job.uncharged_retries >= kMaxUnchargedRetries) return std::nullopt;
  const std::set<NodeId> before = nodes_without(job, job.attempts.size() - 1);
  const std::set<NodeId> now = nodes_without(job.attempts.back());
  const bool is_tried_twice =
      std::any_of(now.begin(), now.end(), [&](const NodeId id) { return before.count(id) != 0; });
  if (is_tried_twice) return std::nullopt;
  const Shape shape = shape_of(job);
  const std::set<std::string> hosts = hosts_of(cluster.state, shape.not_on);
  int others = 0;
  for (const Node& node : cluster.state.nodes_of(job.pool))
    if (hosts.count(node.inventory.host_id) == 0 && !never_fits(cluster, node, shape)) ++others;
  if (others < shape.nodes) return std::nullopt;
  return Retry{false, UnchargedRetry{Uncharged::other_node}, {}};
}

Why nor_on(const State& state, const Job& job) {
  NorOnNodes nor;
  for (const NodeId id : nodes_without(job, job.attempts.size() - 1)) {
    if (nor.nodes.size() < kMostNamedNodes)
      nor.nodes.push_back(state.node_name(id));
    else
      ++nor.more;
  }
  return nor.nodes.empty() ? Why() : Why(std::move(nor));
}

}  // namespace lockstep::launcher
