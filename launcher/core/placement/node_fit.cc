#include "launcher/core/placement/node_fit.h"

#include <algorithm>

#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/limit_fit.h"
#include "common/domain/why/nodes/nodes.h"
#include "launcher/core/placement/machine_end.h"
#include "launcher/core/placement/new_machines.h"
#include "launcher/core/placement/rdma_fabric.h"

namespace lockstep::launcher {

namespace {

// The free ones among `all`, in order.
template <typename Range, typename Key>
std::vector<int> unused(const Range& all, const std::set<int>& used, Key key) {
  std::vector<int> free;
  for (const auto& item : all)
    if (used.count(key(item)) == 0) free.push_back(key(item));
  return free;
}

std::vector<int> free_cpus(const Node& node, const InUse& used) {
  return unused(node.inventory.cpus, used.cpus, [](int cpu) { return cpu; });
}

std::vector<int> free_gpus(const Node& node, const InUse& used) {
  return unused(node.inventory.gpus, used.gpus, [](const GpuDevice& gpu) { return gpu.index; });
}

// The rest of `total`. It may be less than the part in use, since a new session may offer less.
std::size_t left(std::size_t total, int used) {
  return total - std::min(total, static_cast<std::size_t>(used));
}

// An attempt that holds the resource. `all`: it holds all of it, because its job asks for no
// number.
struct Holder {
  AttemptId attempt;
  bool holds_all = false;
};
template <typename Asked>
Holder holder_of(const State& state, const Node& node, const AttemptId& in_the_way,
                 Asked ResourceRequest::*asked) {
  for (const auto& [id, rank] : node.parts) {
    if (state.attempt(id)->parts[static_cast<std::size_t>(rank)].ended()) continue;
    if (!(state.job(id.job)->spec.resources.*asked)) return {id, true};
  }
  return {in_the_way, false};
}

// True if fewer are free than asked for. Without a number, all must be free.
bool is_short_of(std::size_t free, std::size_t all, std::optional<int> asked) {
  return (asked ? static_cast<std::size_t>(*asked) : all) > free;
}

Why few_free(NodeAmount what, std::size_t free, std::size_t all, std::optional<int> asked,
             const Holder& holder) {
  return NodeHasFewerFree{what,  static_cast<int>(free), static_cast<int>(all),
                          asked, holder.attempt,         holder.holds_all};
}

}  // namespace

InUse in_use(const State& state, const Node& node) {
  InUse used;
  for (const auto& [id, rank] : node.parts) {
    const Part& part = state.attempt(id)->parts[static_cast<std::size_t>(rank)];
    if (part.ended()) continue;
    used.cpus.insert(part.allotment.cpus.begin(), part.allotment.cpus.end());
    used.gpus.insert(part.allotment.gpus.begin(), part.allotment.gpus.end());
    if (!used.holder) used.holder = id;
  }
  return used;
}

bool lacks_engine(const Inventory& inventory) {
  return inventory.container_engine && inventory.container_engine->empty();
}

namespace {

// Why the node cannot enforce the memory limit. The memory of a container is limited by its engine,
// and its runner checks that.
Why cannot_limit(const Inventory& inventory, const Shape& shape) {
  if (!shape.limits.required || shape.in_container) return {};
  if (!inventory.unenforced) return NodeMayNotEnforceLimits{};
  const auto why_not = [&](const char* name, bool is_asked) -> Why {
    const auto found = inventory.unenforced->find(name);
    if (!is_asked || found == inventory.unenforced->end()) return {};
    return NodeCannotEnforceLimit{name, found->second};
  };
  if (Why why = why_not("memory", shape.memory.has_value())) return why;
  return why_not("pids", shape.limits.pids.has_value());
}

}  // namespace

Why too_small(const Inventory& inventory, const Shape& shape) {
  const auto cpus = static_cast<int>(inventory.cpus.size());
  const auto gpus = static_cast<int>(inventory.gpus.size());
  if (shape.in_container && lacks_engine(inventory)) return NodeHasNoEngine{};
  if (shape.cpus && *shape.cpus > cpus) return NodeHasFewer{NodeAmount::cpus, cpus, *shape.cpus};
  if (shape.memory && *shape.memory > inventory.memory)
    return NodeHasLessMemory{inventory.memory, *shape.memory};
  if (shape.gpus && *shape.gpus > gpus) return NodeHasFewer{NodeAmount::gpus, gpus, *shape.gpus};
  if (shape.gpus_at_least > gpus) return NodeHasFewerGpusThanRanks{gpus, shape.gpus_at_least};
  if (Why why = cannot_limit(inventory, shape)) return why;
  return beyond(shape.limits, inventory.caps);
}

Why why_no_account(const Node& node, const std::string& run_as) {
  if (node.cannot_run_as.empty()) return {};
  const auto found = node.cannot_run_as.lower_bound({run_as, JobId()});
  if (found == node.cannot_run_as.end() || found->first.first != run_as) return {};
  return NodeLacksAccount{run_as, found->second};
}

Why why_not_isolated(const Cluster& cluster, const Node& node) {
  if (const Size* size = size_of_target(cluster, node.pool)) {
    if (size->isolated) return {};
    return SizeIsNotIsolated{size->name};
  }
  for (const NodeId other : cluster.state.nodes_on_host(node.inventory.host_id)) {
    const Node& there = *cluster.state.node(other);
    if (other == node.id || there.lost || cluster.state.displaced_by(there) != nullptr) continue;
    return NodeSharesMachine{cluster.state.node_name(other)};
  }
  return {};
}

namespace {

// Why the node is not one that the job allows by name or label; none: it is allowed.
Why why_not_chosen(const Cluster& cluster, const Node& node, const Shape& shape) {
  if (!shape.names.empty() &&
      std::find(shape.names.begin(), shape.names.end(), node.name) == shape.names.end())
    return NodeIsNotNamed{};
  for (const auto& [key, value] : shape.labels) {
    const std::string* has = cluster.state.label_of(node, key);
    if (has == nullptr) return NodeHasNoLabel{key};
    if (*has != value) return NodeHasOtherLabel{key, *has, value};
  }
  if (shape.isolated)
    if (Why why = why_not_isolated(cluster, node)) return why;
  if (shape.rdma == Rdma::required)
    if (Why why = why_no_rdma(node.inventory, shape.nodes == 1)) return why;
  return {};
}

}  // namespace

Why never_fits(const Cluster& cluster, const Node& node, const Shape& shape) {
  if (node.waits_for_approval) return NodeAwaitsApproval{node.name};
  if (!node.session) return NodeNeverReported{};
  if (node.lost) return NodeIsLost{*node.lost};
  if (node.notice) return NodeTakenAway{node.notice->until, node.notice->why};
  if (node.drain) return NodeDraining{node.name, *node.drain};
  if (Why why = why_no_account(node, shape.run_as)) return why;
  if (shape.not_on.count(node.id) != 0) return NodeLacksWhatJobNames{};
  if (const Why* lacks = cluster.watches.shortfall_of(node.id)) return *lacks;
  if (Why why = why_not_chosen(cluster, node, shape)) return why;
  if (Why why = ends_before(cluster, node, shape)) return why;
  return too_small(node.inventory, shape);
}

Why why_unusable(const Cluster& cluster, const Node& node) {
  const NodeWatch* watch = cluster.watches.find(node.id);
  if (watch != nullptr && !watch->unread.empty()) return NodeNotUnderstood{watch->unread};
  if (Why why = never_fits(cluster, node, Shape{})) return why;
  if (watch == nullptr || watch->liveness != Liveness::alive) return NodeUnheard{};
  if (!watch->leftovers.empty()) return NodeStopsOldAttempt{*watch->leftovers.begin()};
  if (watch->must_answer) return NodeAskedWhatRuns{};
  if (watch->low_disk) return NodeTakesNoWork{watch->low_disk};
  if (node.parts.size() >= kMaxAssignmentsPerNode)
    return NodeFull{static_cast<int>(node.parts.size())};
  return {};
}

Why not_now(const Cluster& cluster, const Node& node, const Shape& shape) {
  if (Why why = why_unusable(cluster, node)) return why;
  const State& state = cluster.state;
  if (const Node* alone = state.isolated_beside(node))
    return MachineRunsIsolated{alone->name, in_use(state, *alone).holder.value()};
  const bool is_kept = cluster.kept != nullptr && !cluster.kept->leaves_room(node, shape);
  if (is_kept && has_room(node, node.use, shape)) return NodeKeptFor{cluster.kept->job};
  if (node.use.parts == 0) return {};
  const Inventory& has = node.inventory;
  const AttemptId in_the_way = in_use(state, node).holder.value();
  if (node.use.wholes > 0) return HeldAsAWhole{in_the_way.job};
  if (shape.whole_node()) return NodeUsedBy{in_the_way.job};
  const std::size_t cpus = left(has.cpus.size(), node.use.cpus);
  const std::size_t gpus = left(has.gpus.size(), node.use.gpus);
  if (is_short_of(cpus, has.cpus.size(), shape.cpus))
    return few_free(NodeAmount::cpus, cpus, has.cpus.size(), shape.cpus,
                    holder_of(state, node, in_the_way, &ResourceRequest::cpus));
  if (is_short_of(gpus, has.gpus.size(), shape.gpus))
    return few_free(NodeAmount::gpus, gpus, has.gpus.size(), shape.gpus,
                    holder_of(state, node, in_the_way, &ResourceRequest::gpus));
  const Bytes memory{has.memory.count - std::min(has.memory.count, node.use.memory.count)};
  if (shape.memory.value_or(has.memory) <= memory) return {};
  const Holder holder = holder_of(state, node, in_the_way, &ResourceRequest::memory);
  return NodeHasLessMemoryFree{memory, has.memory, shape.memory, holder.attempt, holder.holds_all};
}

Why why_skipped(const Cluster& cluster, const Node& node, const Shape& shape) {
  const bool is_busy = !has_room(node, node.use, shape) && !why_unusable(cluster, node) &&
                       cluster.state.isolated_beside(node) == nullptr;
  if (!is_busy || node.use.wholes > 0 || shape.whole_node()) return not_now(cluster, node, shape);
  const auto first = std::find_if(node.parts.begin(), node.parts.end(), [&](const auto& part) {
    return !cluster.state.attempt(part.first)->parts[static_cast<std::size_t>(part.second)].ended();
  });
  const Inventory& has = node.inventory;
  const bool lacks_cpus =
      shape.cpus && left(has.cpus.size(), node.use.cpus) < static_cast<std::size_t>(*shape.cpus);
  const bool lacks_gpus =
      shape.gpus && left(has.gpus.size(), node.use.gpus) < static_cast<std::size_t>(*shape.gpus);
  const NodeAmount what = lacks_cpus   ? NodeAmount::cpus
                          : lacks_gpus ? NodeAmount::gpus
                                       : NodeAmount::memory;
  return NodeHasTooLittleFree{what, first->first, node.use.parts > 1};
}

bool has_room(const Node& node, const Node::Use& use, const Shape& shape) {
  if (use.parts == 0) return true;
  if (use.wholes > 0 || shape.whole_node()) return false;
  const auto short_of_it = [](std::size_t total, int used, std::optional<int> asked) {
    return left(total, used) < (asked ? static_cast<std::size_t>(*asked) : total);
  };
  if (short_of_it(node.inventory.cpus.size(), use.cpus, shape.cpus)) return false;
  if (short_of_it(node.inventory.gpus.size(), use.gpus, shape.gpus)) return false;
  const std::uint64_t memory = node.inventory.memory.count;
  return memory - std::min(memory, use.memory.count) >= shape.memory.value_or(Bytes{memory}).count;
}

bool fits_now(const Cluster& cluster, const Node& node, const Shape& shape) {
  if (!has_room(node, node.use, shape) || why_unusable(cluster, node)) return false;
  if (cluster.state.isolated_beside(node) != nullptr) return false;
  return cluster.kept == nullptr || cluster.kept->leaves_room(node, shape);
}

bool KeptNodes::leaves_room(const Node& node, const Shape& other) const {
  const auto then = uses.find(node.id);
  if (then == uses.end()) return true;
  const Inventory& has = node.inventory;
  Node::Use use = then->second;
  use.parts += 1;
  use.wholes += shape.whole_node() ? 1 : 0;
  use.cpus += shape.cpus.value_or(static_cast<int>(has.cpus.size()));
  use.gpus += shape.gpus.value_or(static_cast<int>(has.gpus.size()));
  use.memory.count += shape.memory.value_or(has.memory).count;
  return has_room(node, use, other);
}

bool lacks_account(const Cluster& cluster, const Job& job) {
  if (!cluster.config.fixed_nodes || job.pool != kLocalCompute) return false;
  int known = 0;
  for (const Node& node : cluster.state.nodes_of(job.pool)) {
    if (!node.session || node.lost) continue;
    if (!why_no_account(node, job.spec.run_as)) return false;
    ++known;
  }
  return known >= *cluster.config.fixed_nodes;
}

Allotment allot(const Cluster& cluster, const Node& node, const Shape& shape) {
  const InUse used = in_use(cluster.state, node);
  Allotment allotment;
  allotment.cpus = free_cpus(node, used);
  allotment.gpus = free_gpus(node, used);
  allotment.memory = node.inventory.memory;
  if (shape.isolated) return allotment;
  if (shape.cpus) allotment.cpus.resize(static_cast<std::size_t>(*shape.cpus));
  if (shape.gpus) allotment.gpus.resize(static_cast<std::size_t>(*shape.gpus));
  allotment.memory = shape.memory.value_or(node.inventory.memory);
  return allotment;
}

}  // namespace lockstep::launcher
