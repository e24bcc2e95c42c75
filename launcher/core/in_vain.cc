#include "launcher/core/in_vain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "launcher/core/counted.h"
#include "launcher/core/instances.h"
#include "launcher/core/node_fit.h"
#include "launcher/core/scaling.h"

namespace lockstep::launcher {

namespace {

// Of a pool without nodes, or whose first ones are still starting, nothing is known.
bool is_complete(const Cluster& cluster, const std::string& pool) {
  const PoolNodes nodes = cluster.state.nodes_of(pool);
  if (nodes.size() == 0) return false;
  if (!cluster.config.fixed_nodes || pool != kLocalCompute) return true;
  return static_cast<int>(nodes.size()) >= *cluster.config.fixed_nodes;
}

// By name and label. Who shares a machine, or which port of a fabric is down, may change.
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
  bool lacks_label = false, is_small = false;
};

Count count(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  Count count;
  int unknown = 0;
  std::map<std::string, int> fitting;  // by network
  for (const Node& node : cluster.state.nodes_of(pool)) {
    ++count.all;
    if (!node.session) {
      ++unknown;
    } else if (!is_chosen(cluster.state, node, shape)) {
      count.lacks_label = count.lacks_label || !shape.labels.empty();
    } else if (too_small(node.inventory, shape)) {
      count.is_small = true;
    } else {
      ++fitting[node.inventory.network];
    }
  }
  for (const auto& [network, nodes] : fitting) count.fitting = std::max(count.fitting, nodes);
  count.fitting += unknown;
  return count;
}

std::string remedy(const Cluster& cluster, const std::string& pool, const Shape& shape,
                   const Count& count) {
  const bool is_ours = cluster.config.fixed_nodes && pool == kLocalCompute;
  const std::string more =
      is_ours ? fmt::format("start more nodes with `lockstep up --nodes {}`", shape.nodes)
              : fmt::format("join nodes that have it: `lockstep node token --compute {}`", pool);
  if (count.lacks_label)
    return fmt::format("give a node the label: `lockstep node label NODE {}`, or {}",
                       labels_text(shape.labels), more);
  if (count.is_small)
    return fmt::format(
        "ask for less (--cpus, --memory, --gpus; lockstep.resources in a job file), or {}", more);
  if (count.fitting > 0)
    return fmt::format("ask for at most {} (-N; resources.instance_count in a job file), or {}",
                       counted(static_cast<std::size_t>(count.fitting), "node"), more);
  return more;
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
  if (may_grow(cluster, pool) || why_off(cluster, pool) || !is_complete(cluster, pool))
    return std::nullopt;
  const bool names_removed = std::any_of(
      shape.names.begin(), shape.names.end(),
      [&](const std::string& name) { return cluster.state.node_called(name) == nullptr; });
  if (names_removed) return std::nullopt;  // one of that name may come back
  const Count nodes = count(cluster, pool, shape);
  if (nodes.fitting >= shape.nodes) return std::nullopt;
  const std::string who =
      nodes.fitting == 0
          ? fmt::format("no node of target '{}' can ever take it", pool)
          : fmt::format("only {} of target '{}' can ever take it",
                        counted(static_cast<std::size_t>(nodes.fitting), "node"), pool);
  return fmt::format("{}; to change that, {}", who, remedy(cluster, pool, shape, nodes));
}

}  // namespace lockstep::launcher
