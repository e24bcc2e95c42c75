#pragma once
// Why a node cannot take a part of a job: ever, in its present form, or now.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- what the job chooses -----------------------------------------------------------------------

struct NodeIsNotNamed {
  static constexpr std::string_view kCode = "node_is_not_named";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeIsNotNamed&, const NodeIsNotNamed&) = default;
};

struct NodeHasNoLabel {
  static constexpr std::string_view kCode = "node_has_no_label";
  std::string key;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("key", self.key);
  }
  friend bool operator==(const NodeHasNoLabel&, const NodeHasNoLabel&) = default;
};

struct NodeHasOtherLabel {
  static constexpr std::string_view kCode = "node_has_other_label";
  std::string key, has, wanted;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("key", self.key);
    see("has", self.has);
    see("wanted", self.wanted);
  }
  friend bool operator==(const NodeHasOtherLabel&, const NodeHasOtherLabel&) = default;
};

struct SizeIsNotIsolated {
  static constexpr std::string_view kCode = "size_is_not_isolated";
  std::string size;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("size", self.size);
  }
  friend bool operator==(const SizeIsNotIsolated&, const SizeIsNotIsolated&) = default;
};

struct NodeSharesMachine {  // and the job asks for isolation
  static constexpr std::string_view kCode = "node_shares_machine";
  std::string other;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("other", self.other);
  }
  friend bool operator==(const NodeSharesMachine&, const NodeSharesMachine&) = default;
};

struct NodeHasNoRdma {
  static constexpr std::string_view kCode = "node_has_no_rdma";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeHasNoRdma&, const NodeHasNoRdma&) = default;
};

struct RdmaPortsAreDown {
  static constexpr std::string_view kCode = "rdma_ports_are_down";
  struct Port {
    std::string device;
    int port = 0;
    std::string state;
    template <class Self, class See>
    static void fields(Self& self, See&& see) {
      see("device", self.device);
      see("port", self.port);
      see("state", self.state);
    }
    friend bool operator==(const Port&, const Port&) = default;
  };
  std::vector<Port> ports;  // the first ones
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("ports", self.ports);
  }
  friend bool operator==(const RdmaPortsAreDown&, const RdmaPortsAreDown&) = default;
};

struct NodeIsInNoPartition {  // as a full member
  static constexpr std::string_view kCode = "node_is_in_no_partition";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeIsInNoPartition&, const NodeIsInNoPartition&) = default;
};

// ---- what it cannot do for the job --------------------------------------------------------------

struct NodeLacksAccount {
  static constexpr std::string_view kCode = "node_lacks_account";
  std::string account;
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("account", self.account);
    see("why", self.why);
  }
  friend bool operator==(const NodeLacksAccount&, const NodeLacksAccount&) = default;
};

struct NodeLacksWhatJobNames {  // as an attempt of the job found
  static constexpr std::string_view kCode = "node_lacks_what_job_names";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeLacksWhatJobNames&, const NodeLacksWhatJobNames&) = default;
};

struct MachineEndsBeforeJob {
  static constexpr std::string_view kCode = "machine_ends_before_job";
  Duration left{0};
  Duration timeout{0};  // of the job
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("left", self.left);
    see("timeout", self.timeout);
  }
  friend bool operator==(const MachineEndsBeforeJob&, const MachineEndsBeforeJob&) = default;
};

struct NodeHasNoEngine {  // of containers
  static constexpr std::string_view kCode = "node_has_no_engine";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeHasNoEngine&, const NodeHasNoEngine&) = default;
};

struct NodeHasFewer {
  static constexpr std::string_view kCode = "node_has_fewer";
  NodeAmount what = NodeAmount::cpus;  // cpus or gpus
  int has = 0, wanted = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("has", self.has);
    see("wanted", self.wanted);
  }
  friend bool operator==(const NodeHasFewer&, const NodeHasFewer&) = default;
};

struct NodeHasLessMemory {
  static constexpr std::string_view kCode = "node_has_less_memory";
  Bytes has, wanted;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("has", self.has);
    see("wanted", self.wanted);
  }
  friend bool operator==(const NodeHasLessMemory&, const NodeHasLessMemory&) = default;
};

struct NodeHasFewerGpusThanRanks {  // each of which gets its own
  static constexpr std::string_view kCode = "node_has_fewer_gpus_than_ranks";
  int gpus = 0, ranks = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("gpus", self.gpus);
    see("ranks", self.ranks);
  }
  friend bool operator==(const NodeHasFewerGpusThanRanks&,
                         const NodeHasFewerGpusThanRanks&) = default;
};

struct NodeMayNotEnforceLimits {  // its agent does not say what it enforces
  static constexpr std::string_view kCode = "node_may_not_enforce_limits";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeMayNotEnforceLimits&, const NodeMayNotEnforceLimits&) = default;
};

struct NodeCannotEnforceLimit {
  static constexpr std::string_view kCode = "node_cannot_enforce_limit";
  std::string limit;  // "memory" or "pids"
  std::string said;   // by its agent
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("limit", self.limit);
    see("said", self.said);
  }
  friend bool operator==(const NodeCannotEnforceLimit&, const NodeCannotEnforceLimit&) = default;
};

struct NodeAllowsFewerProcesses {  // of a rank
  static constexpr std::string_view kCode = "node_allows_fewer_processes";
  int most = 0, wanted = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("most", self.most);
    see("wanted", self.wanted);
  }
  friend bool operator==(const NodeAllowsFewerProcesses&,
                         const NodeAllowsFewerProcesses&) = default;
};

struct NodeAllowsLessLog {
  static constexpr std::string_view kCode = "node_allows_less_log";
  Bytes most, wanted;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("most", self.most);
    see("wanted", self.wanted);
  }
  friend bool operator==(const NodeAllowsLessLog&, const NodeAllowsLessLog&) = default;
};

struct NodeAllowsLessDisk {
  static constexpr std::string_view kCode = "node_allows_less_disk";
  Bytes most, wanted;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("most", self.most);
    see("wanted", self.wanted);
  }
  friend bool operator==(const NodeAllowsLessDisk&, const NodeAllowsLessDisk&) = default;
};

// ---- what is in the way now ---------------------------------------------------------------------

struct MachineRunsIsolated {
  static constexpr std::string_view kCode = "machine_runs_isolated";
  std::string other;  // the node that does
  AttemptId attempt;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("other", self.other);
    see("attempt", self.attempt);
  }
  friend bool operator==(const MachineRunsIsolated&, const MachineRunsIsolated&) = default;
};

struct NodeKeptFor {
  static constexpr std::string_view kCode = "node_kept_for";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const NodeKeptFor&, const NodeKeptFor&) = default;
};

struct HeldAsAWhole {
  static constexpr std::string_view kCode = "held_as_a_whole";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const HeldAsAWhole&, const HeldAsAWhole&) = default;
};

struct NodeUsedBy {  // and the job asks for the whole node
  static constexpr std::string_view kCode = "node_used_by";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const NodeUsedBy&, const NodeUsedBy&) = default;
};

struct NodeHasFewerFree {
  static constexpr std::string_view kCode = "node_has_fewer_free";
  NodeAmount what = NodeAmount::cpus;  // cpus or gpus
  int free = 0, all = 0;
  std::optional<int> wanted;  // absent: all of them, as the job gives no number
  AttemptId attempt;          // that runs there
  bool holds_all = false;     // it does, as its job gives no number
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("free", self.free);
    see("all", self.all);
    see("wanted", self.wanted);
    see("attempt", self.attempt);
    see("holds_all", self.holds_all);
  }
  friend bool operator==(const NodeHasFewerFree&, const NodeHasFewerFree&) = default;
};

struct NodeHasLessMemoryFree {  // see NodeHasFewerFree
  static constexpr std::string_view kCode = "node_has_less_memory_free";
  Bytes free, all;
  std::optional<Bytes> wanted;
  AttemptId attempt;
  bool holds_all = false;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("free", self.free);
    see("all", self.all);
    see("wanted", self.wanted);
    see("attempt", self.attempt);
    see("holds_all", self.holds_all);
  }
  friend bool operator==(const NodeHasLessMemoryFree&, const NodeHasLessMemoryFree&) = default;
};

struct NodeHasTooLittleFree {  // the same in short
  static constexpr std::string_view kCode = "node_has_too_little_free";
  NodeAmount what = NodeAmount::cpus;
  AttemptId attempt;    // beside which it has
  bool others = false;  // run there too
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("attempt", self.attempt);
    see("others", self.others);
  }
  friend bool operator==(const NodeHasTooLittleFree&, const NodeHasTooLittleFree&) = default;
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
