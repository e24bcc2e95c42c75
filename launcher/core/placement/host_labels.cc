#include "launcher/core/placement/host_labels.h"

#include <algorithm>

namespace lockstep::launcher {
namespace {

// The label that the node of this host would have, as State::label_of() returns it; null: none.
const std::string* label_of_host(const Compute& compute, const std::string& machine,
                                 const std::string& key) {
  if (const auto own = compute.labels_of_hosts.find(machine); own != compute.labels_of_hosts.end())
    if (const auto set = own->second.find(key); set != own->second.end()) return &set->second;
  const auto of_target = compute.spec.labels.find(key);
  return of_target == compute.spec.labels.end() ? nullptr : &of_target->second;
}

}  // namespace

bool would_have(const Compute& compute, const std::string& machine, const NodeLabels& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
    const std::string* has = label_of_host(compute, machine, label.first);
    return has != nullptr && *has == label.second;
  });
}

bool is_suited(const Compute& compute, const SshHost& host, const Shape& shape) {
  const auto& names = shape.names;
  if (!names.empty() && std::find(names.begin(), names.end(), host.name) == names.end())
    return false;
  return would_have(compute, host.name, shape.labels);
}

SuitedHosts suited_hosts(const State& state, const Compute& compute, const Shape& shape) {
  SuitedHosts hosts;
  for (const SshHost& host : compute.spec.hosts) {
    if (!is_suited(compute, host, shape)) continue;
    ++hosts.all;
    const auto machine = compute.machines.find(host.name);
    const bool is_there = machine != compute.machines.end();
    if (is_there && machine->second.is_leaving()) continue;
    const Node* node = is_there ? state.node(machine->second.node) : nullptr;
    if (node == nullptr) ++hosts.without_node;
    if (node == nullptr || node->parts.empty()) ++hosts.open;
  }
  return hosts;
}

bool LabelledHosts::take(const Shape& shape) {
  if (compute_.spec.source != NodeSource::ssh || shape.labels.empty()) return true;
  int& taken = taken_[shape.labels];
  if (taken + shape.nodes > suited_hosts(state_, compute_, shape).open) return false;
  taken += shape.nodes;
  return true;
}

}  // namespace lockstep::launcher
