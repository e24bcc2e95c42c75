#include "launcher/core/placement/in_vain.h"

#include <algorithm>
#include <map>

#include "common/domain/why/jobs/vain.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/core/placement/instance_off.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/shortage.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

// The longest time that a target's first nodes take to join.
constexpr Duration kToJoin = minutes(2);

// Whether a pool's nodes are known. False for a pool without nodes, and while its first nodes
// start.
bool is_complete(const Cluster& cluster, const std::string& pool) {
  const PoolNodes nodes = cluster.state.nodes_of(pool);
  if (nodes.size() == 0) return false;
  if (!cluster.config.fixed_nodes || pool != kLocalCompute) return true;
  return static_cast<int>(nodes.size()) >= *cluster.config.fixed_nodes;
}

// True for a target whose nodes join by themselves and that has none after kToJoin. Target local
// does not count: its nodes start with the launcher.
bool is_deserted(const Cluster& cluster, const std::string& pool) {
  const Compute* compute = cluster.state.computes().find(pool);
  return pool != kLocalCompute && compute != nullptr && cluster.state.nodes_of(pool).size() == 0 &&
         cluster.now - compute->created >= kToJoin;
}

// Compares names and labels only. A fabric port that is down may come back, so it does not count. A
// missing RDMA device, a shared machine and a missing account stay as they are until the agent
// restarts.
bool is_chosen(const State& state, const Node& node, const Shape& shape) {
  if (!shape.names.empty() &&
      std::find(shape.names.begin(), shape.names.end(), node.name) == shape.names.end())
    return false;
  return std::all_of(shape.labels.begin(), shape.labels.end(), [&](const auto& label) {
    const std::string* has = state.label_of(node, label.first);
    return has != nullptr && *has == label.second;
  });
}

struct Count {
  int all = 0;
  int fitting = 0;  // the nodes that fit, in the network that has most of them
  bool lacks_label = false, is_small = false, lacks_engine = false, lacks_rdma = false;
  bool is_shared = false, lacks_account = false;
  Shortage shortage;  // set if is_small
};

Count count(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  Count count;
  int unknown = 0;
  std::map<std::string, int> fitting;  // number of fitting nodes, by network
  for (const Node& node : cluster.state.nodes_of(pool)) {
    ++count.all;
    if (!node.session) {
      ++unknown;
      continue;
    }
    if (!is_chosen(cluster.state, node, shape)) {
      count.lacks_label = count.lacks_label || !shape.labels.empty();
      continue;
    }
    count.shortage.add(node.name, node.inventory, shape);
    if (too_small(node.inventory, shape)) {
      count.is_small = true;
      count.lacks_engine = shape.in_container && lacks_engine(node.inventory);
    } else if (shape.rdma == Rdma::required && node.inventory.rdma_ports.empty()) {
      count.lacks_rdma = true;
    } else if (shape.isolated && why_not_isolated(cluster, node)) {
      count.is_shared = true;
    } else if (why_no_account(node, shape.run_as)) {
      count.lacks_account = true;
    } else {
      ++fitting[node.inventory.network];
    }
  }
  for (const auto& [network, nodes] : fitting) count.fitting = std::max(count.fitting, nodes);
  count.fitting += unknown;
  return count;
}

NodesLack first_lack(const Count& count) {
  if (count.lacks_label) return NodesLack::label;
  if (count.lacks_engine) return NodesLack::engine;
  if (count.is_small) return NodesLack::amounts;
  if (count.lacks_rdma) return NodesLack::rdma;
  if (count.is_shared) return NodesLack::isolation;
  if (count.lacks_account) return NodesLack::account;
  return NodesLack::number;
}

NodesNeverFit never_fit(const Cluster& cluster, const std::string& pool, const Shape& shape,
                        const Count& count) {
  NodesNeverFit reason;
  reason.target = pool;
  reason.fitting = count.fitting;
  reason.is_local = cluster.config.fixed_nodes && pool == kLocalCompute;
  reason.wanted = shape.nodes;
  reason.lack = first_lack(count);
  if (reason.lack == NodesLack::label) reason.labels = asked_for(shape).labels;
  if (reason.lack == NodesLack::amounts) reason.short_of = count.shortage.total();
  if (reason.lack == NodesLack::account) reason.account = shape.run_as;
  return reason;
}

// The resources of the nodes of target local that have reported.
struct Local {
  int known = 0, present = 0, fitting = 0, without_engine = 0;
  std::optional<NodePassedOver> example;
  Shortage shortage;
};

Local count_local(const Cluster& cluster, const Shape& shape) {
  Local local;
  for (const Node& node : cluster.state.nodes_of(std::string(kLocalCompute))) {
    if (!node.session) continue;
    ++local.known;
    if (!node.lost) ++local.present;
    if (lacks_engine(node.inventory)) ++local.without_engine;
    local.shortage.add(node.name, node.inventory, shape);
    Why why = too_small(node.inventory, shape);
    if (!why) ++local.fitting;
    if (why && !local.example) local.example = NodePassedOver{node.name, std::move(why)};
  }
  return local;
}

}  // namespace

bool may_grow(const Cluster& cluster, const std::string& pool) {
  const Compute* compute = cluster.state.computes().find(pool);
  if (compute == nullptr) return false;
  return is_elastic(compute->spec) ||
         std::any_of(compute->machines.begin(), compute->machines.end(),
                     [](const auto& machine) { return machine.second.node.value == 0; });
}

bool could_take(const State& state, const Node& node, const Shape& shape) {
  return !node.session || (is_chosen(state, node, shape) && !too_small(node.inventory, shape));
}

Why in_vain(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  if (may_grow(cluster, pool) || why_off(cluster, pool)) return {};
  if (is_deserted(cluster, pool)) return NobodyJoins{pool};
  if (!is_complete(cluster, pool)) return {};
  const bool names_removed = std::any_of(
      shape.names.begin(), shape.names.end(),
      [&](const std::string& name) { return cluster.state.node_called(name) == nullptr; });
  if (names_removed) return {};  // a node of that name may join again
  const Count nodes = count(cluster, pool, shape);
  if (nodes.fitting >= shape.nodes) return {};
  return never_fit(cluster, pool, shape, nodes);
}

std::optional<Error> beyond_fixed_nodes(const Cluster& cluster, const Shape& shape) {
  if (!cluster.config.fixed_nodes) return std::nullopt;
  const std::string pool(kLocalCompute);
  const int fixed = *cluster.config.fixed_nodes;
  const Local local = count_local(cluster, shape);
  Count nodes;
  const auto refusal = [](const Why& why) {
    return make_error(ErrorCode::unsatisfiable, words::text_of(why));
  };
  if (const int size = std::max(fixed, local.present); shape.nodes > size) {
    nodes.fitting = size;
    return refusal(NeedsWhatNoNodeHas{asked_for(shape), never_fit(cluster, pool, shape, nodes)});
  }
  if (local.known < fixed || local.fitting >= shape.nodes) return std::nullopt;
  if (shape.in_container && local.without_engine > local.known - shape.nodes)
    return refusal(NodesLackEngine{shape.nodes, local.without_engine, local.known, pool});
  nodes.is_small = true;
  nodes.fitting = local.fitting;
  nodes.shortage = local.shortage;
  NodesNeverFit vain = never_fit(cluster, pool, shape, nodes);
  vain.example = local.example;
  return refusal(NeedsWhatNoNodeHas{asked_for(shape), std::move(vain)});
}

}  // namespace lockstep::launcher
