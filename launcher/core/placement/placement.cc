#include "launcher/core/placement/placement.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/base/natural_order.h"
#include "common/domain/why/jobs/vain.h"
#include "common/domain/why/nodes/placement.h"
#include "launcher/core/placement/in_vain.h"
#include "launcher/core/placement/instance_off.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/core/placement/node_fit.h"
#include "launcher/core/placement/rdma_fabric.h"
#include "launcher/core/placement/wait_for_machines.h"

namespace lockstep::launcher {

namespace {

constexpr std::size_t kMaxNamedMachines = 4;  // machines that one reason names

// A set of nodes within which a gang may lie. `host` is empty: the nodes of one network that reach
// each other. Otherwise the nodes of one host, for nodes with a loopback address. `fabric` is set
// only if the job requires RDMA; a node of several fabrics is in several sets.
struct PoolKey {
  std::string network, host, fabric;
  friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};
using Pool = std::vector<const Node*>;
using Pools = std::map<PoolKey, Pool>;

// The first nodes that were passed over. Reasons of busy nodes are made only on demand, because
// each placement passes over many of them.
class Objections {
 public:
  Objections(const Cluster& cluster, const Shape& shape) : cluster_(cluster), shape_(shape) {}
  bool is_full() const { return nodes_.size() >= kMaxReasonNodes; }
  void never(const Node& node, Why why) {
    if (!is_full()) nodes_.emplace_back(&node, std::move(why));
  }
  void not_now(const Node& node) {
    if (!is_full()) nodes_.emplace_back(&node, Why());
  }
  std::vector<NodePassedOver> all() const {
    return list([&](const Node& node) { return launcher::not_now(cluster_, node, shape_); });
  }
  std::vector<NodePassedOver> in_short() const {
    return list([&](const Node& node) { return why_skipped(cluster_, node, shape_); });
  }

 private:
  template <typename WhyNot>
  std::vector<NodePassedOver> list(const WhyNot& why_not) const {
    std::vector<NodePassedOver> list;
    for (const auto& [node, why] : nodes_) {
      list.push_back({node->name, why ? why : why_not(*node)});
      CHECK(list.back().why, "a node is passed over for a reason");
    }
    return list;
  }

  const Cluster& cluster_;
  const Shape& shape_;
  std::vector<std::pair<const Node*, Why>> nodes_;
};

// Sorts every node that could ever take a part into its pools, and records why the others cannot.
Pools gather(const Cluster& cluster, PoolNodes nodes, const Shape& shape, Objections& objections) {
  Pools pools;
  std::vector<const Node*> fitting;
  std::set<PoolKey> hosts;
  for (const Node& node : nodes) {
    if (Why why = never_fits(cluster, node, shape)) {
      objections.never(node, std::move(why));
      continue;
    }
    fitting.push_back(&node);
    if (node.inventory.address_is_loopback)
      hosts.insert({node.inventory.network, node.inventory.host_id, ""});
  }
  if (shape.nodes == 1) {
    if (!fitting.empty()) pools[{}] = std::move(fitting);
    return pools;
  }
  for (const Node* node : fitting) {
    const PoolKey host{node->inventory.network, node->inventory.host_id, ""};
    const bool is_at_home = hosts.count(host) != 0;
    const auto fabrics =
        shape.rdma == Rdma::required ? fabrics_of(node->inventory) : std::vector<std::string>{""};
    for (const std::string& fabric : fabrics) {
      if (!node->inventory.address_is_loopback) pools[{host.network, "", fabric}].push_back(node);
      if (is_at_home) pools[{host.network, host.host, fabric}].push_back(node);
    }
  }
  return pools;
}

// The machines of the pool's target that have no node.
MachinesWithoutNode machines_without_node(const State& state, const std::string& pool) {
  MachinesWithoutNode machines;
  const Compute* compute = state.computes().find(pool);
  if (compute == nullptr) return machines;
  for (const auto& [name, machine] : compute->machines) {
    if (machine.node.value != 0) continue;
    if (machines.first.size() >= kMaxNamedMachines)
      ++machines.more;
    else if (machine.is_leaving())
      machines.first.push_back({name, MachineStage::being_removed, "", {}});
    else if (machine.failure)
      machines.first.push_back(
          {name, MachineStage::failed, machine.failure->step, machine.failure->why});
    else
      machines.first.push_back({name, MachineStage::being_made, "", {}});
  }
  return machines;
}

// Nodes that the job names and that were removed since it was submitted. A name under which the
// target can make a machine again is left out.
std::vector<std::string> removed_names(const Cluster& cluster, const std::string& pool,
                                       const Shape& shape) {
  std::vector<std::string> removed;
  for (const std::string& name : shape.names) {
    const Node* node = cluster.state.node_called(name);
    const bool is_there = node != nullptr && node->name == name && node->pool == pool;
    if (!is_there && cluster.state.computes().host_of(pool, name) == nullptr)
      removed.push_back(name);
  }
  return removed;
}

// The error that no machine has the job's account. The last machines that tried may be gone by now.
NoMachineGivesThat no_machine(const Cluster& cluster, const std::string& pool, const Shape& shape) {
  NoMachineGivesThat reason{asked_for(shape), pool, "", {}};
  if (cluster.samples == nullptr) return reason;
  const Why* why = cluster.samples->why_lacking(pool, shape.run_as, cluster.now);
  if (why == nullptr) return reason;
  reason.account = shape.run_as;
  reason.why = *why;
  return reason;
}

Why too_few(const Cluster& cluster, const std::string& pool, const Shape& shape, const Pools& pools,
            const Objections& objections) {
  const PoolNodes nodes = cluster.state.nodes_of(pool);
  TooFewNodesFit reason;
  reason.asked = asked_for(shape);
  reason.target = pool;
  std::size_t largest = 0;
  for (const auto& [key, pool] : pools) largest = std::max(largest, pool.size());
  reason.fitting = static_cast<std::int64_t>(largest);
  reason.nodes = static_cast<std::int64_t>(nodes.size());
  if (pools.size() > 1)
    reason.together = shape.rdma == Rdma::required ? Together::fabric : Together::network;
  reason.passed_over = objections.all();
  reason.machines = machines_without_node(cluster.state, pool);
  for (const Node& node : nodes)
    if (why_no_account(node, shape.run_as)) reason.account = shape.run_as;
  return reason;
}

Why impossible(const Cluster& cluster, const std::string& pool, const Shape& shape,
               const Pools& pools, const Objections& objections) {
  if (std::vector<std::string> removed = removed_names(cluster, pool, shape); !removed.empty()) {
    if (removed.size() > kMaxReasonNodes) removed.resize(kMaxReasonNodes);
    return NodesWereRemoved{asked_for(shape), pool, std::move(removed)};
  }
  const bool is_empty = cluster.state.nodes_of(pool).size() == 0;
  if (is_empty)
    if (auto machines = machines_without_node(cluster.state, pool); !machines.first.empty())
      return TargetHasNoNodesYet{asked_for(shape), pool, std::move(machines)};
  const Compute* compute = cluster.state.computes().find(pool);
  if (compute != nullptr)
    if (Why why = outlives_machines(*compute, shape.lasts)) return why;
  if (is_empty && compute != nullptr && is_elastic(compute->spec))
    return no_machine(cluster, pool, shape);
  if (is_empty && pool != kLocalCompute) return TargetHasNoNodes{asked_for(shape), pool};
  return too_few(cluster, pool, shape, pools, objections);
}

// The nodes of the last attempt by node rank, and the nodes on which attempts of this job failed.
struct History {
  std::vector<NodeId> previous;
  std::set<NodeId> blamed;
};

bool blames_node(Cause cause) {
  return is_infrastructure(cause) && cause != Cause::port_taken && cause != Cause::account_missing;
}

History history_of(const Job& job) {
  History history;
  for (const Attempt& attempt : job.attempts) {
    if (attempt.ended && blames_node(attempt.ended->cause))
      history.blamed.insert(attempt.ended->node);
    for (const Part& part : attempt.parts)
      if (part.gone()) history.blamed.insert(part.node);
  }
  if (const Attempt* last = job.last_attempt())
    for (const Part& part : last->parts) history.previous.push_back(part.node);
  return history;
}

// The best `count` of `free`: first nodes of the last attempt, then others, then nodes on which an
// attempt failed.
std::vector<const Node*> choose(const Pool& free, std::size_t count, const History& history) {
  const std::set<NodeId> previous(history.previous.begin(), history.previous.end());
  std::vector<const Node*> chosen = free;
  const auto rank = [&](const Node* node) {
    if (history.blamed.count(node->id) != 0) return 2;
    return previous.count(node->id) != 0 ? 0 : 1;
  };
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const Node* a, const Node* b) { return rank(a) < rank(b); });
  chosen.resize(count);
  return chosen;
}

// The number of these nodes that the last attempt had. The node of rank 0 counts for more than all
// others together.
std::size_t kept_of(const std::vector<const Node*>& chosen, const History& history) {
  std::size_t kept = 0;
  for (const Node* node : chosen) {
    const auto it = std::find(history.previous.begin(), history.previous.end(), node->id);
    if (it != history.previous.end())
      kept += it == history.previous.begin() ? chosen.size() + 1 : 1;
  }
  return kept;
}

// Gives each node its rank. Nodes of the last attempt keep theirs; the others fill the gaps in the
// order of their names.
std::vector<const Node*> assign_node_ranks(std::vector<const Node*> chosen,
                                           const History& history) {
  std::vector<const Node*> by_rank(chosen.size(), nullptr);
  for (std::size_t i = 0; i < history.previous.size() && i < by_rank.size(); ++i) {
    const auto it = std::find_if(chosen.begin(), chosen.end(),
                                 [&](const Node* node) { return node->id == history.previous[i]; });
    if (it == chosen.end()) continue;
    by_rank[i] = *it;
    chosen.erase(it);
  }
  std::sort(chosen.begin(), chosen.end(), [](const Node* a, const Node* b) {
    return a->name == b->name ? a->id < b->id : is_named_before(a->name, b->name);
  });
  auto next = chosen.begin();
  for (const Node*& rank : by_rank)
    if (rank == nullptr) rank = *next++;
  return by_rank;
}

// The first `most` free nodes of the pool. Records why earlier nodes of the pool are not free.
Pool free_nodes(const Cluster& cluster, const Shape& shape, const Pool& pool, std::size_t most,
                Objections& objections) {
  Pool free;
  for (const Node* node : pool) {
    if (free.size() >= most) break;
    if (fits_now(cluster, *node, shape))
      free.push_back(node);
    else
      objections.not_now(*node);
  }
  return free;
}

Placed placed_on(const Cluster& cluster, const Shape& shape, const Job& job,
                 const std::vector<const Node*>& by_rank, const Objections& others) {
  Placed placed;
  const Attempt* last = job.last_attempt();
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    placed.parts.push_back(
        {by_rank[i]->id, allot(cluster, *by_rank[i], shape), 0, shape.whole_node()});
    if (placed.why.size() >= kMaxWhyLines) continue;
    const bool kept =
        last != nullptr && i < last->parts.size() && last->parts[i].node == by_rank[i]->id;
    const Allotment& allotment = placed.parts.back().allotment;
    placed.why.push_back(PlacedOnNode{static_cast<int>(i), by_rank[i]->name,
                                      static_cast<int>(allotment.cpus.size()), allotment.memory,
                                      static_cast<int>(allotment.gpus.size()), kept});
  }
  for (NodePassedOver& other : others.in_short())
    placed.why.push_back(NodeSkipped{std::move(other.node), std::move(other.why)});
  return placed;
}

Blocked blocked(const Shape& shape, std::size_t free, const Objections& objections) {
  return {WaitsForNodes{asked_for(shape), static_cast<std::int64_t>(free), objections.all()}};
}

// Places the first attempt of a job of one node: the first free node is taken without looking at
// the others. nullopt: no node could ever take it.
std::optional<Placement> first_fit(const Cluster& cluster, const Shape& shape, const Job& job) {
  Objections objections(cluster, shape);
  bool possible = false;
  for (const Node& node : cluster.state.nodes_of(job.pool)) {
    Why why = never_fits(cluster, node, shape);
    possible = possible || !why;
    if (!why && fits_now(cluster, node, shape))
      return placed_on(cluster, shape, job, {&node}, objections);
    if (why)
      objections.never(node, std::move(why));
    else
      objections.not_now(node);
  }
  if (!possible) return std::nullopt;
  return blocked(shape, 0, objections);
}

Placement place_shape(const Cluster& cluster, const Job& job, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.nodes);
  if (count == 1 && job.attempts.empty())
    if (auto placement = first_fit(cluster, shape, job)) return *std::move(placement);
  const History history = history_of(job);
  Objections objections(cluster, shape);
  const Pools pools = gather(cluster, cluster.state.nodes_of(job.pool), shape, objections);
  // Without an earlier attempt, all free nodes are equally good, so the first ones are taken.
  const bool has_past = !history.previous.empty();
  const std::size_t most = has_past ? SIZE_MAX : count;
  bool possible = false;
  std::size_t most_free = 0, kept_most = 0;
  std::vector<const Node*> best;
  for (const auto& [key, pool] : pools) {
    if (pool.size() < count) continue;
    possible = true;
    const Pool free = free_nodes(cluster, shape, pool, most, objections);
    most_free = std::max(most_free, free.size());
    if (free.size() < count) continue;
    std::vector<const Node*> chosen = choose(free, count, history);
    const std::size_t kept = kept_of(chosen, history);
    if (!best.empty() && kept <= kept_most) continue;
    best = std::move(chosen);
    kept_most = kept;
    if (!has_past) break;
  }
  if (!possible)
    if (Why waits = waits_for_machines(cluster, job.pool, shape)) return Blocked{std::move(waits)};
  if (!possible) {
    Impossible none{impossible(cluster, job.pool, shape, pools, objections)};
    if (Why vain = in_vain(cluster, job.pool, shape)) {
      none.why = WaitsInVain{std::move(none.why), std::move(vain)};
      none.in_vain = true;
    }
    return none;
  }
  if (best.empty()) return blocked(shape, most_free, objections);
  return placed_on(cluster, shape, job, assign_node_ranks(std::move(best), history), objections);
}

}  // namespace

Placement place(const Cluster& cluster, const Job& job) {
  if (Why off = why_off(cluster, job.pool)) return Blocked{std::move(off)};
  Shape shape = shape_of(job);
  if (shape.rdma != Rdma::preferred) return place_shape(cluster, job, shape);
  shape.rdma = Rdma::required;
  Placement first = place_shape(cluster, job, shape);
  if (std::holds_alternative<Placed>(first)) return first;
  shape.rdma = Rdma::off;
  return place_shape(cluster, job, shape);
}

std::vector<NodeGroup> groups_of(const Cluster& cluster, const std::string& pool,
                                 const Shape& shape) {
  Objections objections(cluster, shape);
  std::vector<NodeGroup> groups;
  for (auto& [key, nodes] : gather(cluster, cluster.state.nodes_of(pool), shape, objections))
    groups.push_back(std::move(nodes));
  return groups;
}

}  // namespace lockstep::launcher
