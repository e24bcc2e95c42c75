#include "launcher/core/nodes/machine_claims.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/domain/why/nodes/nodes.h"

namespace lockstep::launcher {

namespace {

constexpr double kMemoryRounding = 0.02;  // agents round numbers, and measure at different times

MachineRef ref_of(const MachinePart& machine) {
  return {machine.id.substr(0, machine.id.find(':')), machine.machine_id};
}

// The time at which the node first claimed the machine. A machine's id begins with the id of its
// host; a claim that contradicts the node's inventory comes last.
std::pair<Instant, NodeId> claim_of(const Context& core, const Node& node) {
  const std::string& host = node.inventory.host_id;
  const bool agrees =
      !host.empty() && core.watches.machine_of(node.id).id.rfind(host + ":", 0) == 0;
  return {agrees ? node.host_claim.since : Instant::never(), node.id};
}

// The machine's existing nodes, in the order of their claims.
std::vector<const Node*> nodes_on(const Context& core, const std::string& machine) {
  std::vector<const Node*> nodes;
  if (machine.empty() || core.config.shared_machines) return nodes;
  for (const NodeId id : core.watches.on_machine(machine))
    if (const Node* node = core.state.node(id); node != nullptr && !node->lost)
      nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end(),
            [&](const Node* a, const Node* b) { return claim_of(core, *a) < claim_of(core, *b); });
  return nodes;
}

std::vector<int> gpus_of(const Node& node) {
  std::vector<int> indexes;
  for (const GpuDevice& gpu : node.inventory.gpus) indexes.push_back(gpu.index);
  std::sort(indexes.begin(), indexes.end());
  return indexes;
}

std::optional<int> common_number(std::vector<int> one, std::vector<int> other) {
  std::sort(one.begin(), one.end());
  std::sort(other.begin(), other.end());
  std::vector<int> both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                        std::back_inserter(both));
  return both.empty() ? std::nullopt : std::optional(both.front());
}

}  // namespace

Why refused_as_second(const Context& core, const MachinePart& machine, NodeId replaced) {
  if (machine.is_part) return {};
  auto nodes = nodes_on(core, machine.id);
  std::erase_if(nodes, [&](const Node* node) { return node->id == replaced; });
  if (nodes.empty()) return {};
  const Node& there = *nodes.front();
  return MachineIsANode{ref_of(machine), there.name, there.pool,
                        static_cast<int>(there.inventory.cpus.size()), there.inventory.memory};
}

Why oversold(const Context& core, const Node& node) {
  const Inventory& mine = node.inventory;
  const MachinePart machine = core.watches.machine_of(node.id);
  const auto nodes = nodes_on(core, machine.id);
  Bytes offered{}, whole = machine.memory;
  const Node* first = nullptr;
  for (const Node* other : nodes) {
    if (other->id == node.id) break;
    const auto both = [&](NodeAmount what, int index) {
      return NodeOffersAnothersDevice{what, index, other->name, ref_of(machine)};
    };
    if (const auto cpu = common_number(mine.cpus, other->inventory.cpus))
      return both(NodeAmount::cpus, *cpu);
    if (const auto gpu = common_number(gpus_of(node), gpus_of(*other)))
      return both(NodeAmount::gpus, *gpu);
    offered.count += other->inventory.memory.count;
    whole = std::max(whole, core.watches.machine_of(other->id).memory);
    if (first == nullptr) first = other;
  }
  const double most = static_cast<double>(whole.count) * (1 + kMemoryRounding);
  if (first == nullptr || static_cast<double>(offered.count + mine.memory.count) <= most) return {};
  return NodeOffersTooMuchMemory{mine.memory, ref_of(machine), first->name, offered, whole};
}

Why claims_anothers(const Context& core, const Node& node) {
  if (core.config.shared_machines) return {};
  const Node* there = core.state.displaced_by(node);
  if (there == nullptr) return {};
  return NodeClaimsAnothersMachine{node.name, node.host_claim.since, there->name,
                                   node.inventory.host_id};
}

}  // namespace lockstep::launcher
