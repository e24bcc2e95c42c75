#pragma once
// Why a job waits in vain: time alone does not help.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/fields.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct WaitsInVain {
  static constexpr std::string_view kCode = "waits_in_vain";
  Why why;   // why the job waits
  Why vain;  // why time alone does not help
  LOCKSTEP_FIELDS(WaitsInVain, why, vain);
};

struct NobodyJoins {  // the target has had no node for minutes
  static constexpr std::string_view kCode = "nobody_joins";
  std::string target;
  LOCKSTEP_FIELDS(NobodyJoins, target);
};

// An amount of a request that some node lacks.
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
  bool no_gpus = false;          // no node has GPUs
  std::string node_without_gpu;  // the first node without one of the GPUs that the ranks need
  bool gpu_for_each_rank = false;
  bool limits = false;  // some nodes cannot enforce the limits
  LOCKSTEP_FIELDS(ShortOf, amounts, no_gpus, node_without_gpu, gpu_for_each_rank, limits);
};

// The first thing that the nodes lack.
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
  LOCKSTEP_FIELDS(NodesNeverFit, target, fitting, is_local, wanted, lack, short_of, labels, account,
                  example);
};

// The reason for refusing a submission.
struct NeedsWhatNoNodeHas {
  static constexpr std::string_view kCode = "needs_what_no_node_has";
  NodesAsked asked;
  Why vain;
  LOCKSTEP_FIELDS(NeedsWhatNoNodeHas, asked, vain);
};

struct NodesLackEngine {
  static constexpr std::string_view kCode = "nodes_lack_engine";
  int wanted = 1;  // nodes
  int lacking = 0, nodes = 0;
  std::string target;
  LOCKSTEP_FIELDS(NodesLackEngine, wanted, lacking, nodes, target);
};

struct JobWaitsInVain {
  static constexpr std::string_view kCode = "job_waits_in_vain";
  NodesAsked asked;
  Why vain;
  std::string step;  // the step of a pipeline; "": the job is not a pipeline
  std::string task;  // the task of an array
  LOCKSTEP_FIELDS(JobWaitsInVain, asked, vain, step, task);
};

using VainReasons = List<WaitsInVain, NobodyJoins, NodesNeverFit, NeedsWhatNoNodeHas,
                         NodesLackEngine, JobWaitsInVain>;

}  // namespace lockstep
