#pragma once
// Why a node cannot take a part of a job: ever, in its present form, or now.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes/nodes.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- what the job chooses -----------------------------------------------------------------------

struct NodeIsNotNamed {
  static constexpr std::string_view kCode = "node_is_not_named";
  LOCKSTEP_FIELDS(NodeIsNotNamed);
};

struct NodeHasNoLabel {
  static constexpr std::string_view kCode = "node_has_no_label";
  std::string key;
  LOCKSTEP_FIELDS(NodeHasNoLabel, key);
};

struct NodeHasOtherLabel {
  static constexpr std::string_view kCode = "node_has_other_label";
  std::string key, has, wanted;
  LOCKSTEP_FIELDS(NodeHasOtherLabel, key, has, wanted);
};

struct SizeIsNotIsolated {
  static constexpr std::string_view kCode = "size_is_not_isolated";
  std::string size;
  LOCKSTEP_FIELDS(SizeIsNotIsolated, size);
};

struct NodeSharesMachine {  // The job asks for isolation, and the machine has another node.
  static constexpr std::string_view kCode = "node_shares_machine";
  std::string other;
  LOCKSTEP_FIELDS(NodeSharesMachine, other);
};

struct NodeHasNoRdma {
  static constexpr std::string_view kCode = "node_has_no_rdma";
  LOCKSTEP_FIELDS(NodeHasNoRdma);
};

struct RdmaPortsAreDown {
  static constexpr std::string_view kCode = "rdma_ports_are_down";
  struct Port {
    std::string device;
    int port = 0;
    std::string state;
    LOCKSTEP_FIELDS(Port, device, port, state);
  };
  std::vector<Port> ports;  // the first ones
  LOCKSTEP_FIELDS(RdmaPortsAreDown, ports);
};

struct NodeIsInNoPartition {  // The node is not a full member of any partition.
  static constexpr std::string_view kCode = "node_is_in_no_partition";
  LOCKSTEP_FIELDS(NodeIsInNoPartition);
};

// ---- what it cannot do for the job --------------------------------------------------------------

struct NodeLacksAccount {
  static constexpr std::string_view kCode = "node_lacks_account";
  std::string account;
  Why why;
  LOCKSTEP_FIELDS(NodeLacksAccount, account, why);
};

struct NodeLacksWhatJobNames {  // An attempt of the job found that.
  static constexpr std::string_view kCode = "node_lacks_what_job_names";
  LOCKSTEP_FIELDS(NodeLacksWhatJobNames);
};

struct MachineEndsBeforeJob {
  static constexpr std::string_view kCode = "machine_ends_before_job";
  Duration left{0};
  Duration timeout{0};  // the job's time limit
  LOCKSTEP_FIELDS(MachineEndsBeforeJob, left, timeout);
};

struct NodeHasNoEngine {  // The node has no container engine.
  static constexpr std::string_view kCode = "node_has_no_engine";
  LOCKSTEP_FIELDS(NodeHasNoEngine);
};

struct NodeHasFewer {
  static constexpr std::string_view kCode = "node_has_fewer";
  NodeAmount what = NodeAmount::cpus;  // cpus or gpus
  int has = 0, wanted = 0;
  LOCKSTEP_FIELDS(NodeHasFewer, what, has, wanted);
};

struct NodeHasLessMemory {
  static constexpr std::string_view kCode = "node_has_less_memory";
  Bytes has, wanted;
  LOCKSTEP_FIELDS(NodeHasLessMemory, has, wanted);
};

struct NodeHasFewerGpusThanRanks {  // Each rank would get its own GPUs.
  static constexpr std::string_view kCode = "node_has_fewer_gpus_than_ranks";
  int gpus = 0, ranks = 0;
  LOCKSTEP_FIELDS(NodeHasFewerGpusThanRanks, gpus, ranks);
};

struct NodeMayNotEnforceLimits {  // The node's agent does not report which limits it enforces.
  static constexpr std::string_view kCode = "node_may_not_enforce_limits";
  LOCKSTEP_FIELDS(NodeMayNotEnforceLimits);
};

struct NodeCannotEnforceLimit {
  static constexpr std::string_view kCode = "node_cannot_enforce_limit";
  std::string limit;  // "memory" or "pids"
  std::string said;   // the reason that its agent gives
  LOCKSTEP_FIELDS(NodeCannotEnforceLimit, limit, said);
};

struct NodeAllowsFewerProcesses {  // The node allows a rank fewer processes than the job asks for.
  static constexpr std::string_view kCode = "node_allows_fewer_processes";
  int most = 0, wanted = 0;
  LOCKSTEP_FIELDS(NodeAllowsFewerProcesses, most, wanted);
};

struct NodeAllowsLessLog {
  static constexpr std::string_view kCode = "node_allows_less_log";
  Bytes most, wanted;
  LOCKSTEP_FIELDS(NodeAllowsLessLog, most, wanted);
};

struct NodeAllowsLessDisk {
  static constexpr std::string_view kCode = "node_allows_less_disk";
  Bytes most, wanted;
  LOCKSTEP_FIELDS(NodeAllowsLessDisk, most, wanted);
};

// ---- what is in the way now ---------------------------------------------------------------------

struct MachineRunsIsolated {
  static constexpr std::string_view kCode = "machine_runs_isolated";
  std::string other;  // the node that runs isolated
  AttemptId attempt;
  LOCKSTEP_FIELDS(MachineRunsIsolated, other, attempt);
};

struct NodeKeptFor {
  static constexpr std::string_view kCode = "node_kept_for";
  JobId job;
  LOCKSTEP_FIELDS(NodeKeptFor, job);
};

struct HeldAsAWhole {
  static constexpr std::string_view kCode = "held_as_a_whole";
  JobId job;
  LOCKSTEP_FIELDS(HeldAsAWhole, job);
};

struct NodeUsedBy {  // The job asks for the whole node.
  static constexpr std::string_view kCode = "node_used_by";
  JobId job;
  LOCKSTEP_FIELDS(NodeUsedBy, job);
};

struct NodeHasFewerFree {
  static constexpr std::string_view kCode = "node_has_fewer_free";
  NodeAmount what = NodeAmount::cpus;  // cpus or gpus
  int free = 0, all = 0;
  std::optional<int> wanted;  // absent: all of them, as the job gives no number
  AttemptId attempt;          // the attempt that runs there
  bool holds_all = false;     // the attempt holds all, as its job gives no number
  LOCKSTEP_FIELDS(NodeHasFewerFree, what, free, all, wanted, attempt, holds_all);
};

struct NodeHasLessMemoryFree {  // The same as NodeHasFewerFree, for memory.
  static constexpr std::string_view kCode = "node_has_less_memory_free";
  Bytes free, all;
  std::optional<Bytes> wanted;
  AttemptId attempt;
  bool holds_all = false;
  LOCKSTEP_FIELDS(NodeHasLessMemoryFree, free, all, wanted, attempt, holds_all);
};

struct NodeHasTooLittleFree {  // The short form of the two reasons above.
  static constexpr std::string_view kCode = "node_has_too_little_free";
  NodeAmount what = NodeAmount::cpus;
  AttemptId attempt;    // the attempt beside which the node has too little
  bool others = false;  // true: others run there, too
  LOCKSTEP_FIELDS(NodeHasTooLittleFree, what, attempt, others);
};

using FitReasons =
    List<NodeIsNotNamed, NodeHasNoLabel, NodeHasOtherLabel, SizeIsNotIsolated, NodeSharesMachine,
         NodeHasNoRdma, RdmaPortsAreDown, NodeIsInNoPartition, NodeLacksAccount,
         NodeLacksWhatJobNames, MachineEndsBeforeJob, NodeHasNoEngine, NodeHasFewer,
         NodeHasLessMemory, NodeHasFewerGpusThanRanks, NodeMayNotEnforceLimits,
         NodeCannotEnforceLimit, NodeAllowsFewerProcesses, NodeAllowsLessLog, NodeAllowsLessDisk,
         MachineRunsIsolated, NodeKeptFor, HeldAsAWhole, NodeUsedBy, NodeHasFewerFree,
         NodeHasLessMemoryFree, NodeHasTooLittleFree>;

}  // namespace lockstep
