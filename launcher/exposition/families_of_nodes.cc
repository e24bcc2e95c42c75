#include "launcher/exposition/families.h"

namespace lockstep::launcher {
namespace {

using Type = MetricType;
using Numbers = ClusterNumbers;
using Writer = ExpositionWriter;

// A series for each node. Two nodes may have one name, so that the id is a label, too.
template <typename Value>
void each_node(const Numbers& n, Writer& w, const Value& value) {
  for (const NodeNumbers& one : n.nodes)
    w.add({one.target, one.name, std::to_string(one.id.value)}, value(one));
}
template <typename Value>
void each_use(const Numbers& n, Writer& w, const Value& value) {
  for (const NodeNumbers& one : n.nodes)
    if (one.use) w.add({one.target, one.name, std::to_string(one.id.value)}, value(*one.use));
}

}  // namespace

std::span<const ExposedFamily> families_of_nodes() {
  static const std::vector<ExposedFamily> kFamilies{
      {{"lockstep_nodes",
        Type::gauge,
        "",
        {"target", "liveness", "state", "version"},
        "Nodes, by liveness, by whether they are in service, and by version of their agent"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets)
           for (const auto& [kind, count] : one.nodes)
             w.add({one.name, kind.liveness, kind.state, kind.version}, count);
       }},
      {{"lockstep_cpus", Type::gauge, "", {"target"}, "Cpus that the nodes of a target offer"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.cpus);
       }},
      {{"lockstep_cpus_held",
        Type::gauge,
        "",
        {"target"},
        "Cpus that jobs hold on the nodes of a target"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.cpus_held);
       }},
      {{"lockstep_cpus_busy",
        Type::gauge,
        "",
        {"target"},
        "Cpus in use on the nodes of a target, as far as they told lately"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.cpus_busy);
       }},
      {{"lockstep_gpus", Type::gauge, "", {"target"}, "GPUs that the nodes of a target offer"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.gpus);
       }},
      {{"lockstep_gpus_held",
        Type::gauge,
        "",
        {"target"},
        "GPUs that jobs hold on the nodes of a target"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.gpus_held);
       }},
      {{"lockstep_gpus_busy",
        Type::gauge,
        "",
        {"target"},
        "GPUs that are busy on the nodes of a target, as far as they told lately"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.gpus_busy);
       }},
      {{"lockstep_memory_bytes",
        Type::gauge,
        "bytes",
        {"target"},
        "Memory that the nodes of a target offer"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.memory.count);
       }},
      {{"lockstep_memory_held_bytes",
        Type::gauge,
        "bytes",
        {"target"},
        "Memory that jobs hold on the nodes of a target"},
       [](const Numbers& n, Writer& w) {
         for (const TargetNumbers& one : n.targets) w.add({one.name}, one.memory_held.count);
       }},
      {{"lockstep_node_up", Type::gauge, "", {"target", "node", "id"}, "1 if the node is ALIVE"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return std::uint64_t{one.alive}; });
       }},
      {{"lockstep_node_drained",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "1 if the node takes no new work"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return std::uint64_t{one.drained}; });
       }},
      {{"lockstep_node_unheard_seconds",
        Type::gauge,
        "seconds",
        {"target", "node", "id"},
        "Since when the launcher has heard nothing of the node"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.unheard_seconds; });
       }},
      {{"lockstep_node_cpus",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "Cpus that the node offers"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.cpus; });
       }},
      {{"lockstep_node_cpus_held",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "Cpus that jobs hold there"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.cpus_held; });
       }},
      {{"lockstep_node_gpus",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "GPUs that the node offers"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.gpus; });
       }},
      {{"lockstep_node_gpus_held",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "GPUs that jobs hold there"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.gpus_held; });
       }},
      {{"lockstep_node_memory_bytes",
        Type::gauge,
        "bytes",
        {"target", "node", "id"},
        "Memory that the node offers"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.memory.count; });
       }},
      {{"lockstep_node_memory_held_bytes",
        Type::gauge,
        "bytes",
        {"target", "node", "id"},
        "Memory that jobs hold there"},
       [](const Numbers& n, Writer& w) {
         each_node(n, w, [](const NodeNumbers& one) { return one.memory_held.count; });
       }},
      {{"lockstep_node_cpus_busy",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "Cpus in use on the node, by whatever process"},
       [](const Numbers& n, Writer& w) {
         each_use(n, w, [](const NodeNumbers::Use& use) { return use.cpus_busy; });
       }},
      {{"lockstep_node_gpus_busy",
        Type::gauge,
        "",
        {"target", "node", "id"},
        "GPUs that are busy there"},
       [](const Numbers& n, Writer& w) {
         each_use(n, w, [](const NodeNumbers::Use& use) { return use.gpus_busy; });
       }},
      {{"lockstep_node_memory_used_bytes",
        Type::gauge,
        "bytes",
        {"target", "node", "id"},
        "Memory in use on the node"},
       [](const Numbers& n, Writer& w) {
         each_use(n, w, [](const NodeNumbers::Use& use) { return use.memory.count; });
       }},
      {{"lockstep_node_disk_free_bytes",
        Type::gauge,
        "bytes",
        {"target", "node", "id"},
        "Free space of the file system that holds the attempts"},
       [](const Numbers& n, Writer& w) {
         each_use(n, w, [](const NodeNumbers::Use& use) { return use.disk_free.count; });
       }},
      {{"lockstep_node_received_rate_bytes",
        Type::gauge,
        "bytes",
        {"target", "node", "id"},
        "Bytes that the node receives in a second"},
       [](const Numbers& n, Writer& w) {
         each_use(n, w, [](const NodeNumbers::Use& use) { return use.received_per_second; });
       }},
      {{"lockstep_node_sent_rate_bytes",
        Type::gauge,
        "bytes",
        {"target", "node", "id"},
        "Bytes that the node sends in a second"},
       [](const Numbers& n, Writer& w) {
         each_use(n, w, [](const NodeNumbers::Use& use) { return use.sent_per_second; });
       }},
  };
  return kFamilies;
}

}  // namespace lockstep::launcher
