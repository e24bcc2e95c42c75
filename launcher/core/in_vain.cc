#include "launcher/core/in_vain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "launcher/core/counted.h"
#include "launcher/core/instances.h"
#include "launcher/core/node_fit.h"
#include "launcher/core/scaling.h"
#include "launcher/core/shortage.h"

namespace lockstep::launcher {

namespace {

constexpr Duration kToJoin = minutes(2);  // of the first nodes of a target

// Of a pool without nodes, or whose first ones are still starting, nothing is known.
bool is_complete(const Cluster& cluster, const std::string& pool) {
  const PoolNodes nodes = cluster.state.nodes_of(pool);
  if (nodes.size() == 0) return false;
  if (!cluster.config.fixed_nodes || pool != kLocalCompute) return true;
  return static_cast<int>(nodes.size()) >= *cluster.config.fixed_nodes;
}

// A target whose nodes join by themselves and that still has none after kToJoin. Nodes of target
// local start with the launcher.
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
  int fitting = 0;  // in the network that has most of them
  bool lacks_label = false, is_small = false, lacks_engine = false, lacks_rdma = false;
  bool is_shared = false, lacks_account = false;
  Shortage shortage;  // if is_small
};

Count count(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  Count count;
  int unknown = 0;
  std::map<std::string, int> fitting;  // by network
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

// Further nodes of a machine of ours are no larger than those that it has, and have no labels.
std::string remedy(const Cluster& cluster, const std::string& pool, const Shape& shape,
                   const Count& count) {
  const bool is_ours = cluster.config.fixed_nodes && pool == kLocalCompute;
  const std::string more =
      is_ours ? fmt::format("start more nodes with `lockstep up --nodes {}`", shape.nodes)
              : fmt::format("join nodes that have it: `lockstep node token --compute {}`", pool);
  const std::string or_more = is_ours ? "" : ", or " + more;
  if (count.lacks_label)
    return fmt::format("give a node the label: `lockstep node label NODE {}`{}",
                       labels_text(shape.labels), or_more);
  if (count.lacks_engine)
    return fmt::format("install docker or podman on its nodes and restart their lockstep-agent{}",
                       or_more);
  if (count.is_small)
    return count.shortage.remedy(
        or_more, is_ours ? "`lockstep down` and `lockstep up`" : "restart its lockstep-agent");
  if (count.lacks_rdma)
    return fmt::format("leave out --rdma (lockstep.rdma in a job file){}", or_more);
  if (count.is_shared)
    return fmt::format(
        "leave out --isolated (lockstep.isolated in a job file){}",
        is_ours ? ", or start one node alone with `lockstep up --nodes 1`" : or_more);
  if (count.lacks_account)
    return fmt::format("create the account {} on a node and restart that node's lockstep-agent",
                       shape.run_as);
  if (count.fitting > 0)
    return fmt::format("ask for at most {} (-N; resources.instance_count in a job file), or {}",
                       counted(static_cast<std::size_t>(count.fitting), "node"), more);
  return more;
}

std::string who_can(const std::string& pool, int fitting) {
  return fitting == 0 ? fmt::format("no node of target '{}' can ever take it", pool)
                      : fmt::format("only {} of target '{}' can ever take it",
                                    counted(static_cast<std::size_t>(fitting), "node"), pool);
}

// What the nodes of target local have that have reported.
struct Local {
  int known = 0, present = 0, fitting = 0, without_engine = 0;
  std::string example;  // "local-0 has 0 gpus, 4 asked for"
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
    const auto reason = too_small(node.inventory, shape);
    if (!reason) ++local.fitting;
    if (reason && local.example.empty()) local.example = node.name + " " + *reason;
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

std::optional<std::string> in_vain(const Cluster& cluster, const std::string& pool,
                                   const Shape& shape) {
  if (may_grow(cluster, pool) || why_off(cluster, pool)) return std::nullopt;
  if (is_deserted(cluster, pool))
    return fmt::format(
        "target '{0}' has no nodes; to change that, join some: `lockstep node token "
        "--compute {0}`",
        pool);
  if (!is_complete(cluster, pool)) return std::nullopt;
  const bool names_removed = std::any_of(
      shape.names.begin(), shape.names.end(),
      [&](const std::string& name) { return cluster.state.node_called(name) == nullptr; });
  if (names_removed) return std::nullopt;  // one of that name may come back
  const Count nodes = count(cluster, pool, shape);
  if (nodes.fitting >= shape.nodes) return std::nullopt;
  return fmt::format("{}; to change that, {}", who_can(pool, nodes.fitting),
                     remedy(cluster, pool, shape, nodes));
}

std::optional<Error> beyond_fixed_nodes(const Cluster& cluster, const Shape& shape) {
  if (!cluster.config.fixed_nodes) return std::nullopt;
  const std::string pool(kLocalCompute);
  const int fixed = *cluster.config.fixed_nodes;
  const Local local = count_local(cluster, shape);
  Count nodes;
  const auto refusal = [&](const std::string& who) {
    return make_error(ErrorCode::unsatisfiable,
                      fmt::format("needs {}, but {}; to change that, {}", describe(shape), who,
                                  remedy(cluster, pool, shape, nodes)));
  };
  if (const int size = std::max(fixed, local.present); shape.nodes > size) {
    nodes.fitting = size;
    return refusal(who_can(pool, size));
  }
  if (local.known < fixed || local.fitting >= shape.nodes) return std::nullopt;
  if (shape.in_container && local.without_engine > local.known - shape.nodes)
    return make_error(
        ErrorCode::unsatisfiable,
        fmt::format("needs a container engine on {}, but {} of the {} nodes of target '{}' have "
                    "none: {}",
                    shape.nodes == 1 ? "a node" : counted(shape.nodes, "node"),
                    local.without_engine, local.known, pool, kNoEngine));
  nodes.is_small = true;
  nodes.fitting = local.fitting;
  nodes.shortage = local.shortage;
  return refusal(fmt::format("{} ({})", who_can(pool, local.fitting), local.example));
}

}  // namespace lockstep::launcher
