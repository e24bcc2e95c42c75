#pragma once
// Why a job is placed where it is, or cannot be placed now or ever.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/fit.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- records ------------------------------------------------------------------------------------

struct LabelAsked {
  std::string key, value;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("key", self.key);
    see("value", self.value);
  }
  friend bool operator==(const LabelAsked&, const LabelAsked&) = default;
};

// The nodes that a job asks for, and what each of them must have.
struct NodesAsked {
  int nodes = 1;
  bool isolated = false;
  std::vector<std::string> names;  // the first ones of those that may run it; empty: any
  bool more_names = false;
  std::optional<int> cpus;
  std::optional<Bytes> memory;
  std::optional<int> gpus;
  bool rdma = false;
  std::vector<LabelAsked> labels;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("nodes", self.nodes);
    see("isolated", self.isolated);
    see("names", self.names);
    see("more_names", self.more_names);
    see("cpus", self.cpus);
    see("memory", self.memory);
    see("gpus", self.gpus);
    see("rdma", self.rdma);
    see("labels", self.labels);
  }
  friend bool operator==(const NodesAsked&, const NodesAsked&) = default;
};

enum class MachineStage { being_made, being_removed, failed };
constexpr std::string_view to_string(MachineStage stage) {
  switch (stage) {
    case MachineStage::being_made: return "being_made";
    case MachineStage::being_removed: return "being_removed";
    case MachineStage::failed: return "failed";
  }
  return "";
}
constexpr MachineStage last_enumerator(MachineStage) { return MachineStage::failed; }

// A machine of a target without a node.
struct MachineWithoutNode {
  std::string machine;
  MachineStage stage = MachineStage::being_made;
  std::string step;  // that failed
  Why why;           // it failed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("machine", self.machine);
    see("stage", self.stage);
    see("step", self.step);
    see("why", self.why);
  }
  friend bool operator==(const MachineWithoutNode&, const MachineWithoutNode&) = default;
};

struct MachinesWithoutNode {
  std::vector<MachineWithoutNode> first;
  std::int64_t more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("first", self.first);
    see("more", self.more);
  }
  friend bool operator==(const MachinesWithoutNode&, const MachinesWithoutNode&) = default;
};

// ---- about one node, for a list of them ---------------------------------------------------------

struct NodePassedOver {
  static constexpr std::string_view kCode = "node_passed_over";
  std::string node;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("why", self.why);
  }
  friend bool operator==(const NodePassedOver&, const NodePassedOver&) = default;
};

struct NodeSkipped {  // when another one was chosen
  static constexpr std::string_view kCode = "node_skipped";
  std::string node;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("why", self.why);
  }
  friend bool operator==(const NodeSkipped&, const NodeSkipped&) = default;
};

struct NodeCouldRun {  // a part of the job now
  static constexpr std::string_view kCode = "node_could_run";
  std::string node;
  std::optional<bool> rdma;  // absent: the job does not mind
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("rdma", self.rdma);
  }
  friend bool operator==(const NodeCouldRun&, const NodeCouldRun&) = default;
};

struct MoreNodes {
  static constexpr std::string_view kCode = "more_nodes";
  std::int64_t nodes = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("nodes", self.nodes);
  }
  friend bool operator==(const MoreNodes&, const MoreNodes&) = default;
};

struct PlacedOnNode {
  static constexpr std::string_view kCode = "placed_on_node";
  int node_rank = 0;
  std::string node;
  int cpus = 0;
  Bytes memory;
  int gpus = 0;
  bool as_before = false;  // in the attempt before
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node_rank", self.node_rank);
    see("node", self.node);
    see("cpus", self.cpus);
    see("memory", self.memory);
    see("gpus", self.gpus);
    see("as_before", self.as_before);
  }
  friend bool operator==(const PlacedOnNode&, const PlacedOnNode&) = default;
};

// ---- why a job waits ----------------------------------------------------------------------------

struct WaitsForNodes {  // enough could run it, but not now
  static constexpr std::string_view kCode = "waits_for_nodes";
  NodesAsked asked;
  std::int64_t free = 0;
  std::vector<NodePassedOver> passed_over;  // the first ones
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("free", self.free);
    see("passed_over", self.passed_over);
  }
  friend bool operator==(const WaitsForNodes&, const WaitsForNodes&) = default;
};

struct InstanceIsStopped {
  static constexpr std::string_view kCode = "instance_is_stopped";
  std::string target;
  Why why;
  struct Start {  // by its schedule
    Instant at;
    std::string local_time, time_zone;
    template <class Self, class See>
    static void fields(Self& self, See&& see) {
      see("at", self.at);
      see("local_time", self.local_time);
      see("time_zone", self.time_zone);
    }
    friend bool operator==(const Start&, const Start&) = default;
  };
  std::optional<Start> starts;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
    see("why", self.why);
    see("starts", self.starts);
  }
  friend bool operator==(const InstanceIsStopped&, const InstanceIsStopped&) = default;
};

struct NodesWereRemoved {  // that the job names
  static constexpr std::string_view kCode = "nodes_were_removed";
  NodesAsked asked;
  std::string target;
  std::vector<std::string> nodes;  // the first ones
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
    see("nodes", self.nodes);
  }
  friend bool operator==(const NodesWereRemoved&, const NodesWereRemoved&) = default;
};

struct TargetHasNoNodesYet {
  static constexpr std::string_view kCode = "target_has_no_nodes_yet";
  NodesAsked asked;
  std::string target;
  MachinesWithoutNode machines;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
    see("machines", self.machines);
  }
  friend bool operator==(const TargetHasNoNodesYet&, const TargetHasNoNodesYet&) = default;
};

struct TargetHasNoNodes {
  static constexpr std::string_view kCode = "target_has_no_nodes";
  NodesAsked asked;
  std::string target;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
  }
  friend bool operator==(const TargetHasNoNodes&, const TargetHasNoNodes&) = default;
};

struct NoMachineGivesThat {
  static constexpr std::string_view kCode = "no_machine_gives_that";
  NodesAsked asked;
  std::string target;
  std::string account;  // that the last machines lack; "": they do not
  Why why;              // they lack it
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
    see("account", self.account);
    see("why", self.why);
  }
  friend bool operator==(const NoMachineGivesThat&, const NoMachineGivesThat&) = default;
};

struct JobOutlivesMachines {
  static constexpr std::string_view kCode = "job_outlives_machines";
  std::string target;
  Duration timeout{0};   // of the job
  Duration lifetime{0};  // of a machine
  std::string setting;   // that gives them more time: "lockstep.slurm.time"; "": there is none
  bool in_seconds = false;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
    see("timeout", self.timeout);
    see("lifetime", self.lifetime);
    see("setting", self.setting);
    see("in_seconds", self.in_seconds);
  }
  friend bool operator==(const JobOutlivesMachines&, const JobOutlivesMachines&) = default;
};

// In what the nodes of a gang must be together.
enum class Together { anywhere, network, fabric };
constexpr std::string_view to_string(Together together) {
  switch (together) {
    case Together::anywhere: return "anywhere";
    case Together::network: return "network";
    case Together::fabric: return "fabric";
  }
  return "";
}
constexpr Together last_enumerator(Together) { return Together::fabric; }

struct TooFewNodesFit {
  static constexpr std::string_view kCode = "too_few_nodes_fit";
  NodesAsked asked;
  std::string target;
  std::int64_t fitting = 0, nodes = 0;  // of the target
  Together together = Together::anywhere;
  std::vector<NodePassedOver> passed_over;  // the first ones
  MachinesWithoutNode machines;
  std::string account;  // that some node lacks; "": none does
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("target", self.target);
    see("fitting", self.fitting);
    see("nodes", self.nodes);
    see("together", self.together);
    see("passed_over", self.passed_over);
    see("machines", self.machines);
    see("account", self.account);
  }
  friend bool operator==(const TooFewNodesFit&, const TooFewNodesFit&) = default;
};

// ---- the target ---------------------------------------------------------------------------------

enum class TargetIs { free, busy, not_made };
constexpr std::string_view to_string(TargetIs is) {
  switch (is) {
    case TargetIs::free: return "free";
    case TargetIs::busy: return "busy";
    case TargetIs::not_made: return "not_made";
  }
  return "";
}
constexpr TargetIs last_enumerator(TargetIs) { return TargetIs::not_made; }

struct TargetThatFits {
  std::string target;
  TargetIs is = TargetIs::free;
  double price = 0;  // of a node and hour; 0: none is known
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
    see("is", self.is);
    see("price", self.price);
  }
  friend bool operator==(const TargetThatFits&, const TargetThatFits&) = default;
};

struct TargetWasChosen {
  static constexpr std::string_view kCode = "target_was_chosen";
  TargetThatFits chosen;
  std::vector<TargetThatFits> others;  // the best ones
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("chosen", self.chosen);
    see("others", self.others);
  }
  friend bool operator==(const TargetWasChosen&, const TargetWasChosen&) = default;
};

struct InstanceTypeNotUsed {
  static constexpr std::string_view kCode = "instance_type_not_used";
  std::string instance_type, target;
  std::string size;  // of the target's nodes; "": it has none
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("instance_type", self.instance_type);
    see("target", self.target);
    see("size", self.size);
  }
  friend bool operator==(const InstanceTypeNotUsed&, const InstanceTypeNotUsed&) = default;
};

using PlacementReasons =
    List<NodePassedOver, NodeSkipped, NodeCouldRun, MoreNodes, PlacedOnNode, WaitsForNodes,
         InstanceIsStopped, NodesWereRemoved, TargetHasNoNodesYet, TargetHasNoNodes,
         NoMachineGivesThat, JobOutlivesMachines, TooFewNodesFit, TargetWasChosen,
         InstanceTypeNotUsed>;

}  // namespace lockstep
