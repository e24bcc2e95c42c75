#pragma once
// Why a job waits in vain: time alone does not help.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/why/list.h"
#include "common/domain/why/placement.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct WaitsInVain {
  static constexpr std::string_view kCode = "waits_in_vain";
  Why why;   // it waits
  Why vain;  // and nothing changes that
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
    see("vain", self.vain);
  }
  friend bool operator==(const WaitsInVain&, const WaitsInVain&) = default;
};

struct NobodyJoins {  // the target has had no node for minutes
  static constexpr std::string_view kCode = "nobody_joins";
  std::string target;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
  }
  friend bool operator==(const NobodyJoins&, const NobodyJoins&) = default;
};

// What of a request some node does not have.
enum class AskedAmount { cpus, disk, gpus, log, memory, pids };
constexpr std::string_view to_string(AskedAmount amount) {
  switch (amount) {
    case AskedAmount::cpus: return "cpus";
    case AskedAmount::disk: return "disk";
    case AskedAmount::gpus: return "gpus";
    case AskedAmount::log: return "log";
    case AskedAmount::memory: return "memory";
    case AskedAmount::pids: return "pids";
  }
  return "";
}
constexpr AskedAmount last_enumerator(AskedAmount) { return AskedAmount::pids; }

struct ShortOf {
  std::vector<AskedAmount> amounts;
  bool no_gpus = false;          // on any node
  std::string node_without_gpu;  // the first without one of those that should have some
  bool gpu_for_each_rank = false;
  bool limits = false;  // that nodes cannot enforce
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("amounts", self.amounts);
    see("no_gpus", self.no_gpus);
    see("node_without_gpu", self.node_without_gpu);
    see("gpu_for_each_rank", self.gpu_for_each_rank);
    see("limits", self.limits);
  }
  friend bool operator==(const ShortOf&, const ShortOf&) = default;
};

// What the nodes lack first.
enum class NodesLack { number, label, engine, amounts, rdma, isolation, account };
constexpr std::string_view to_string(NodesLack lack) {
  switch (lack) {
    case NodesLack::number: return "number";
    case NodesLack::label: return "label";
    case NodesLack::engine: return "engine";
    case NodesLack::amounts: return "amounts";
    case NodesLack::rdma: return "rdma";
    case NodesLack::isolation: return "isolation";
    case NodesLack::account: return "account";
  }
  return "";
}
constexpr NodesLack last_enumerator(NodesLack) { return NodesLack::account; }

struct NodesNeverFit {
  static constexpr std::string_view kCode = "nodes_never_fit";
  std::string target;
  int fitting = 0;
  bool is_local = false;  // `lockstep up` starts its nodes
  int wanted = 1;         // nodes
  NodesLack lack = NodesLack::number;
  ShortOf short_of;                       // amounts
  std::vector<LabelAsked> labels;         // label
  std::string account;                    // account
  std::optional<NodePassedOver> example;  // a node that does not fit
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("target", self.target);
    see("fitting", self.fitting);
    see("is_local", self.is_local);
    see("wanted", self.wanted);
    see("lack", self.lack);
    see("short_of", self.short_of);
    see("labels", self.labels);
    see("account", self.account);
    see("example", self.example);
  }
  friend bool operator==(const NodesNeverFit&, const NodesNeverFit&) = default;
};

// Of a submission that is refused.
struct NeedsWhatNoNodeHas {
  static constexpr std::string_view kCode = "needs_what_no_node_has";
  NodesAsked asked;
  Why vain;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("vain", self.vain);
  }
  friend bool operator==(const NeedsWhatNoNodeHas&, const NeedsWhatNoNodeHas&) = default;
};

struct NodesLackEngine {
  static constexpr std::string_view kCode = "nodes_lack_engine";
  int wanted = 1;  // nodes
  int lacking = 0, nodes = 0;
  std::string target;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("wanted", self.wanted);
    see("lacking", self.lacking);
    see("nodes", self.nodes);
    see("target", self.target);
  }
  friend bool operator==(const NodesLackEngine&, const NodesLackEngine&) = default;
};

struct JobWaitsInVain {
  static constexpr std::string_view kCode = "job_waits_in_vain";
  NodesAsked asked;
  Why vain;
  std::string step;  // of a pipeline; "": it is none
  std::string task;  // of an array
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("asked", self.asked);
    see("vain", self.vain);
    see("step", self.step);
    see("task", self.task);
  }
  friend bool operator==(const JobWaitsInVain&, const JobWaitsInVain&) = default;
};

using VainReasons = List<WaitsInVain, NobodyJoins, NodesNeverFit, NeedsWhatNoNodeHas,
                         NodesLackEngine, JobWaitsInVain>;

}  // namespace lockstep
