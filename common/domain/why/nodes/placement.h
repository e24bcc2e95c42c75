#pragma once
// Why a job is placed where it is, or cannot be placed now or ever.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- records ------------------------------------------------------------------------------------

struct LabelAsked {
  std::string key, value;
  LOCKSTEP_FIELDS(LabelAsked, key, value);
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
  LOCKSTEP_FIELDS(NodesAsked, nodes, isolated, names, more_names, cpus, memory, gpus, rdma, labels);
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
  std::string step;  // the step that failed
  Why why;           // why it failed
  LOCKSTEP_FIELDS(MachineWithoutNode, machine, stage, step, why);
};

struct MachinesWithoutNode {
  std::vector<MachineWithoutNode> first;
  std::int64_t more = 0;
  LOCKSTEP_FIELDS(MachinesWithoutNode, first, more);
};

// ---- about one node, for a list of them ---------------------------------------------------------

struct NodePassedOver {
  static constexpr std::string_view kCode = "node_passed_over";
  std::string node;
  Why why;
  LOCKSTEP_FIELDS(NodePassedOver, node, why);
};

struct NodeSkipped {  // Another node was chosen.
  static constexpr std::string_view kCode = "node_skipped";
  std::string node;
  Why why;
  LOCKSTEP_FIELDS(NodeSkipped, node, why);
};

struct NodeCouldRun {  // a part of the job now
  static constexpr std::string_view kCode = "node_could_run";
  std::string node;
  std::optional<bool> rdma;  // absent: the job does not ask for RDMA
  LOCKSTEP_FIELDS(NodeCouldRun, node, rdma);
};

struct MoreNodes {
  static constexpr std::string_view kCode = "more_nodes";
  std::int64_t nodes = 0;
  LOCKSTEP_FIELDS(MoreNodes, nodes);
};

struct PlacedOnNode {
  static constexpr std::string_view kCode = "placed_on_node";
  int node_rank = 0;
  std::string node;
  int cpus = 0;
  Bytes memory;
  int gpus = 0;
  bool as_before = false;  // the rank has the same node as in the attempt before
  LOCKSTEP_FIELDS(PlacedOnNode, node_rank, node, cpus, memory, gpus, as_before);
};

// ---- why a job waits ----------------------------------------------------------------------------

struct WaitsForNodes {  // enough could run it, but not now
  static constexpr std::string_view kCode = "waits_for_nodes";
  NodesAsked asked;
  std::int64_t free = 0;
  std::vector<NodePassedOver> passed_over;  // the first nodes
  LOCKSTEP_FIELDS(WaitsForNodes, asked, free, passed_over);
};

struct InstanceIsStopped {
  static constexpr std::string_view kCode = "instance_is_stopped";
  std::string target;
  Why why;
  struct Start {  // the next start of its schedule
    Instant at;
    std::string local_time, time_zone;
    LOCKSTEP_FIELDS(Start, at, local_time, time_zone);
  };
  std::optional<Start> starts;
  LOCKSTEP_FIELDS(InstanceIsStopped, target, why, starts);
};

struct NodesWereRemoved {  // The job names nodes that were removed.
  static constexpr std::string_view kCode = "nodes_were_removed";
  NodesAsked asked;
  std::string target;
  std::vector<std::string> nodes;  // the first nodes
  LOCKSTEP_FIELDS(NodesWereRemoved, asked, target, nodes);
};

struct TargetHasNoNodesYet {
  static constexpr std::string_view kCode = "target_has_no_nodes_yet";
  NodesAsked asked;
  std::string target;
  MachinesWithoutNode machines;
  LOCKSTEP_FIELDS(TargetHasNoNodesYet, asked, target, machines);
};

struct TargetHasNoNodes {
  static constexpr std::string_view kCode = "target_has_no_nodes";
  NodesAsked asked;
  std::string target;
  LOCKSTEP_FIELDS(TargetHasNoNodes, asked, target);
};

struct NoMachineGivesThat {
  static constexpr std::string_view kCode = "no_machine_gives_that";
  NodesAsked asked;
  std::string target;
  std::string account;  // the account that the last machines lack; "": they have it
  Why why;              // why they lack it
  LOCKSTEP_FIELDS(NoMachineGivesThat, asked, target, account, why);
};

struct JobOutlivesMachines {
  static constexpr std::string_view kCode = "job_outlives_machines";
  std::string target;
  Duration timeout{0};   // the job's time limit
  Duration lifetime{0};  // the lifetime of a machine
  std::string setting;   // for a longer lifetime: "lockstep.slurm.time"; "": there is none
  bool in_seconds = false;
  LOCKSTEP_FIELDS(JobOutlivesMachines, target, timeout, lifetime, setting, in_seconds);
};

// The place that the nodes of a gang must share.
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
  std::int64_t fitting = 0, nodes = 0;  // the numbers of the target's nodes
  Together together = Together::anywhere;
  std::vector<NodePassedOver> passed_over;  // the first nodes
  MachinesWithoutNode machines;
  std::string account;  // the account that some node lacks; "": none does
  LOCKSTEP_FIELDS(TooFewNodesFit, asked, target, fitting, nodes, together, passed_over, machines,
                  account);
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
  double price = 0;  // per node and hour; 0: unknown
  LOCKSTEP_FIELDS(TargetThatFits, target, is, price);
};

struct TargetWasChosen {
  static constexpr std::string_view kCode = "target_was_chosen";
  TargetThatFits chosen;
  std::vector<TargetThatFits> others;  // the best targets
  LOCKSTEP_FIELDS(TargetWasChosen, chosen, others);
};

struct InstanceTypeNotUsed {
  static constexpr std::string_view kCode = "instance_type_not_used";
  std::string instance_type, target;
  std::string size;  // the size of the target's nodes; "": it has none
  LOCKSTEP_FIELDS(InstanceTypeNotUsed, instance_type, target, size);
};

using PlacementReasons =
    List<NodePassedOver, NodeSkipped, NodeCouldRun, MoreNodes, PlacedOnNode, WaitsForNodes,
         InstanceIsStopped, NodesWereRemoved, TargetHasNoNodesYet, TargetHasNoNodes,
         NoMachineGivesThat, JobOutlivesMachines, TooFewNodesFit, TargetWasChosen,
         InstanceTypeNotUsed>;

}  // namespace lockstep
