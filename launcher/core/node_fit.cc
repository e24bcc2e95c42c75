#include "launcher/core/node_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/fabric.h"
#include "launcher/core/machine_life.h"
#include "launcher/core/size_check.h"
#include "launcher/words/held_node.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {

namespace {

// Of a job that names others of a node's resources, and this one not.
constexpr const char* kAll = "all (the job gives no amount)";

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

// "3 of 4 cpus are asked for, 1 is free".
std::optional<std::string> short_of(std::string_view what, std::size_t free, std::size_t total,
                                    std::optional<int> asked) {
  const std::size_t wanted = asked ? static_cast<std::size_t>(*asked) : total;
  if (wanted <= free) return std::nullopt;
  return fmt::format("has {} of its {} {} free, {} asked for", free, total, what,
                     asked ? std::to_string(*asked) : kAll);
}

// A new session may offer less than what is held.
std::size_t left(std::size_t total, int used) {
  return total - std::min(total, static_cast<std::size_t>(used));
}

std::optional<std::string> short_of_memory(const Node& node, std::optional<Bytes> asked) {
  const Bytes total = node.inventory.memory;
  const Bytes free{total.count - std::min(total.count, node.use.memory.count)};
  const Bytes wanted = asked.value_or(total);
  if (wanted <= free) return std::nullopt;
  return fmt::format("has {} of its {} memory free, {} asked for", to_string(free),
                     to_string(total), asked ? to_string(*asked) : kAll);
}

// " (a.1 runs there)", or that it holds all of something because it names none of that.
template <typename Asked>
std::string who_holds(const State& state, const Node& node, const std::string& holder,
                      std::string_view what, Asked ResourceRequest::*asked) {
  for (const auto& [id, rank] : node.parts) {
    if (state.attempt(id)->parts[static_cast<std::size_t>(rank)].ended()) continue;
    if (!(state.job(id.job)->spec.resources.*asked))
      return fmt::format(
          " ({} holds all {} of the node, because it was submitted without --{}; "
          "with --{}, other jobs could use the rest)",
          to_string(id), what, what, what);
  }
  return " (" + holder + " runs there)";
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

// A container's memory is limited by its engine, whose runner knows whether it can.
std::optional<std::string> cannot_limit(const Inventory& inventory, const Shape& shape) {
  if (!shape.limits.required || shape.in_container) return std::nullopt;
  if (!inventory.unenforced)
    return "has an agent that does not report which limits it enforces (lockstep.limits: required)";
  const auto why_not = [&](const char* name, bool is_asked) -> std::optional<std::string> {
    const auto found = inventory.unenforced->find(name);
    if (!is_asked || found == inventory.unenforced->end()) return std::nullopt;
    return fmt::format("cannot enforce a limit of {} (lockstep.limits: required): {}", name,
                       found->second);
  };
  if (auto why = why_not("memory", shape.memory.has_value())) return why;
  return why_not("pids", shape.limits.pids.has_value());
}

}  // namespace

std::optional<std::string> too_small(const Inventory& inventory, const Shape& shape) {
  if (shape.in_container && lacks_engine(inventory))
    return fmt::format("has no container engine: {}", kNoEngine);
  if (shape.cpus && static_cast<std::size_t>(*shape.cpus) > inventory.cpus.size())
    return fmt::format("has {} cpus, {} asked for", inventory.cpus.size(), *shape.cpus);
  if (shape.memory && *shape.memory > inventory.memory)
    return fmt::format("has {} memory, {} asked for", to_string(inventory.memory),
                       to_string(*shape.memory));
  if (shape.gpus && static_cast<std::size_t>(*shape.gpus) > inventory.gpus.size())
    return fmt::format("has {} gpus, {} asked for", inventory.gpus.size(), *shape.gpus);
  if (static_cast<std::size_t>(shape.gpus_at_least) > inventory.gpus.size())
    return fmt::format("has {} gpus, but gpus_per_rank: isolated needs one for each of {} ranks",
                       inventory.gpus.size(), shape.gpus_at_least);
  if (auto why = cannot_limit(inventory, shape)) return why;
  return beyond(shape.limits, inventory.caps);
}

std::optional<std::string> why_no_account(const Node& node, const std::string& run_as) {
  if (node.cannot_run_as.empty()) return std::nullopt;
  const auto found = node.cannot_run_as.lower_bound({run_as, JobId()});
  if (found == node.cannot_run_as.end() || found->first.first != run_as) return std::nullopt;
  return found->second;
}

std::optional<std::string> why_not_isolated(const Cluster& cluster, const Node& node) {
  if (const Size* size = size_of_target(cluster, node.pool)) {
    if (size->isolated) return std::nullopt;
    return fmt::format("is of size {}, which is not isolated", size->name);
  }
  for (const NodeId other : cluster.state.nodes_on_host(node.inventory.host_id)) {
    const Node& there = *cluster.state.node(other);
    if (other == node.id || there.lost || cluster.state.displaced_by(there) != nullptr) continue;
    return fmt::format("shares its machine with node {}, but the job asks for isolation",
                       cluster.state.node_name(other));
  }
  return std::nullopt;
}

namespace {

// Why the node is none of those that the job chooses; nullopt: it is one of them.
std::optional<std::string> why_not_chosen(const Cluster& cluster, const Node& node,
                                          const Shape& shape) {
  if (!shape.names.empty() &&
      std::find(shape.names.begin(), shape.names.end(), node.name) == shape.names.end())
    return "is not among the nodes that the job names";
  for (const auto& [key, value] : shape.labels) {
    const std::string* has = cluster.state.label_of(node, key);
    if (has == nullptr) return fmt::format("has no label {}", key);
    if (*has != value)
      return fmt::format("has the label {}={}, {}={} asked for", key, *has, key, value);
  }
  if (shape.isolated)
    if (auto reason = why_not_isolated(cluster, node)) return reason;
  if (shape.rdma == Rdma::required)
    if (auto reason = why_no_rdma(node.inventory, shape.nodes == 1)) return reason;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> never_fits(const Cluster& cluster, const Node& node,
                                      const Shape& shape) {
  if (node.waits_for_approval)
    return fmt::format("waits for approval: an admin approves it with `lockstep node approve {}`",
                       node.name);
  if (!node.session)
    return "has joined, but its agent has not reported yet; if that stays so, it does not reach "
           "the launcher's port for nodes (`lockstep-agent doctor` there says which port)";
  if (node.lost) return "is LOST (" + words::text_of(*node.lost) + ")";
  if (node.notice)
    return fmt::format("is taken away at {}: {}", to_string(node.notice->until),
                       words::text_of(node.notice->why));
  if (node.drain)
    return fmt::format("is draining{}; `lockstep node resume {}` lets it take work again",
                       node.drain->empty() ? "" : " (" + *node.drain + ")", node.name);
  if (const auto why = why_no_account(node, shape.run_as))
    return "cannot run jobs as " + shape.run_as + ": " + *why;
  if (shape.not_on.count(node.id) != 0)
    return "does not have what the job names, or no room for it, as an attempt found";
  if (const std::string* lacks = cluster.watches.shortfall_of(node.id)) return *lacks;
  if (auto reason = why_not_chosen(cluster, node, shape)) return reason;
  if (auto reason = ends_before(cluster, node, shape)) return reason;
  return too_small(node.inventory, shape);
}

std::optional<std::string> why_unusable(const Cluster& cluster, const Node& node) {
  const NodeWatch* watch = cluster.watches.find(node.id);
  if (watch != nullptr && !watch->unread.empty())
    return "has an agent that the launcher cannot understand: " + watch->unread;
  if (auto reason = never_fits(cluster, node, Shape{})) return reason;
  if (watch == nullptr || watch->liveness != Liveness::alive)
    return "is UNKNOWN: it has not reported recently";
  if (!watch->leftovers.empty())
    return "is still stopping an attempt from before it was LOST (" +
           to_string(*watch->leftovers.begin()) + ")";
  if (watch->must_answer) return "was LOST, and the launcher is asking which ranks still run there";
  if (!watch->low_disk.empty()) return "takes no new work: " + watch->low_disk;
  if (node.parts.size() >= kMaxAssignmentsPerNode)
    return fmt::format("has {} attempts, the most that a node may have", node.parts.size());
  return std::nullopt;
}

std::optional<std::string> not_now(const Cluster& cluster, const Node& node, const Shape& shape) {
  if (auto reason = why_unusable(cluster, node)) return reason;
  if (const Node* alone = cluster.state.isolated_beside(node))
    return fmt::format("shares its machine with node {}, which runs {}, an isolated job",
                       alone->name, to_string(in_use(cluster.state, *alone).holder.value()));
  const bool is_kept = cluster.kept != nullptr && !cluster.kept->leaves_room(node, shape);
  if (is_kept && has_room(node, node.use, shape))
    return "is kept for job '" + cluster.kept->job.value + "'";
  if (node.use.parts == 0) return std::nullopt;
  const Inventory& has = node.inventory;
  const AttemptId in_the_way = in_use(cluster.state, node).holder.value();
  if (node.use.wholes > 0) return words::held_as_a_whole(in_the_way.job);
  if (shape.whole_node())
    return fmt::format("is used by job '{}', but the job asks for the whole node",
                       in_the_way.job.value);
  const std::string holder = to_string(in_the_way);
  const std::size_t cpus = left(has.cpus.size(), node.use.cpus);
  const std::size_t gpus = left(has.gpus.size(), node.use.gpus);
  if (auto reason = short_of("cpus", cpus, has.cpus.size(), shape.cpus))
    return *reason + who_holds(cluster.state, node, holder, "cpus", &ResourceRequest::cpus);
  if (auto reason = short_of("gpus", gpus, has.gpus.size(), shape.gpus))
    return *reason + who_holds(cluster.state, node, holder, "gpus", &ResourceRequest::gpus);
  if (auto reason = short_of_memory(node, shape.memory))
    return *reason + who_holds(cluster.state, node, holder, "memory", &ResourceRequest::memory);
  return std::nullopt;
}

std::string why_skipped(const Cluster& cluster, const Node& node, const Shape& shape) {
  const bool is_busy = !has_room(node, node.use, shape) && !why_unusable(cluster, node) &&
                       cluster.state.isolated_beside(node) == nullptr;
  if (!is_busy || node.use.wholes > 0 || shape.whole_node())
    return not_now(cluster, node, shape).value();
  const auto first = std::find_if(node.parts.begin(), node.parts.end(), [&](const auto& part) {
    return !cluster.state.attempt(part.first)->parts[static_cast<std::size_t>(part.second)].ended();
  });
  const Inventory& has = node.inventory;
  const bool lacks_cpus =
      shape.cpus && left(has.cpus.size(), node.use.cpus) < static_cast<std::size_t>(*shape.cpus);
  const bool lacks_gpus =
      shape.gpus && left(has.gpus.size(), node.use.gpus) < static_cast<std::size_t>(*shape.gpus);
  std::string text = "has too ";
  text += lacks_cpus ? "few cpus" : lacks_gpus ? "few gpus" : "little memory";
  text += " free beside " + to_string(first->first);
  if (node.use.parts > 1) text += " and others";
  return text;
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

std::string describe(const Allotment& allotment) {
  return fmt::format("{} cpus, {} memory, {} gpus", allotment.cpus.size(),
                     to_string(allotment.memory), allotment.gpus.size());
}

}  // namespace lockstep::launcher
