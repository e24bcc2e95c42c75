#pragma once
// The desired-state protocol between launcher and node, as values: what a node shall run
// (Assignment) and what it says it runs (PartReport). A `part` is one attempt's share on one node;
// one runner supervises it. There are no start or stop commands to lose: only the wanted phase
// moves forward.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_spec.h"
#include "common/domain/node.h"
#include "common/domain/secrets.h"

namespace lockstep {

// What the attempt holds on one node.
struct Allotment {
  std::vector<int> cpus;  // logical cpu ids
  Bytes memory;
  std::vector<int> gpus;  // indexes of Inventory::gpus, PCI order
  friend bool operator==(const Allotment&, const Allotment&) = default;
};

// One node of a gang, as all runners of the gang see it. Index in GangTable::members = node rank.
struct GangMember {
  NodeId node;
  std::string hostname;
  std::string address;            // for MASTER_ADDR and AZ_BATCH_*
  std::string host_id;            // equal = same host
  std::uint16_t runner_port = 0;  // ZeroMQ CURVE ROUTER of that node's runner
  PublicKey runner_key;
  int gpus = 0;
  friend bool operator==(const GangMember&, const GangMember&) = default;
};

struct GangTable {
  std::vector<GangMember> members;
  std::uint16_t master_port = 0;  // leased and held by node rank 0's runner
  friend bool operator==(const GangTable&, const GangTable&) = default;
};

enum class WantedPhase {
  prepare,  // stage the workspace, start the runner, lease ports, report Prepared
  run,      // gang table is known: start the ranks
  stop,     // SIGTERM, then SIGKILL after `grace`; report Finished
};
std::string_view to_string(WantedPhase phase);

enum class StopReason { canceled, gang_failed, superseded };
std::string_view to_string(StopReason reason);

struct Assignment {
  AttemptId attempt;
  std::string experiment;  // for AZUREML_EXPERIMENT_ID
  int node_rank = 0;
  JobSpec spec;
  Allotment allotment;
  WantedPhase phase = WantedPhase::prepare;
  std::optional<GangTable> gang;  // present from phase run on
  StopReason stop_reason = StopReason::canceled;
  Duration grace = seconds(10);  // between SIGTERM and SIGKILL
  bool solo =
      false;  // single-node attempt: phase is `run` at once, the runner fills the gang table
  // The ranks end when the launcher is silent for so long; 0 = they never do for that reason.
  Duration lease{0};
  std::optional<CheckpointSource> checkpoint;  // what its ranks begin with
  EnvironmentPlan environment = {};            // of spec.environment, as far as it is known
  // The values of all secrets that spec.environment_variables names. They are never written to
  // disk: an assignment that is read from a file has none, and waits until they are sent.
  std::optional<SecretValues> secrets = {};
  friend bool operator==(const Assignment&, const Assignment&) = default;

  int nodes() const { return spec.resources.instance_count; }
  int ranks_here() const { return spec.distribution.processes_per_node; }
  int first_rank() const { return node_rank * ranks_here(); }
};

struct DesiredState {
  std::uint64_t revision = 0;  // per node, grows
  std::vector<Assignment> assignments;
  // The node removes environments that it built and nobody used since then; ns = 0: none.
  Instant environments_unused_since = {};
  friend bool operator==(const DesiredState&, const DesiredState&) = default;
};

// States of a part, only forward (any state may jump to finished). `collecting`: its ranks have
// ended, and what they left is on its way to the launcher.
enum class PartState { staging, prepared, running, stopping, collecting, finished };
std::string_view to_string(PartState state);

struct PartReport {
  AttemptId attempt;
  PartState state = PartState::staging;
  std::string progress;           // in words while it lasts ("fetching 3.1/12.0 MiB")
  std::uint16_t runner_port = 0;  // from prepared on (0 when solo)
  PublicKey runner_key;
  std::uint16_t master_port = 0;       // from prepared on, node rank 0 only
  Instant started;                     // from running on
  std::optional<NodeExitReport> exit;  // when finished
  // When finished: the non-empty outputs of its ranks. Before: the last copies of ./logs and the
  // checkpoint.
  std::vector<CollectedOutput> outputs;
  std::optional<CollectedOutput> restored;  // the checkpoint that its ranks begin with, once staged
  std::optional<EnvironmentReport> environment = {};  // once the node has looked at it
  std::vector<std::string> limits = {};  // that its ranks ran into, a line each; also in `exit`
  // When finished: files that its ranks made and that belong to no output. Absent: there are none,
  // or nobody looked.
  std::optional<NotKept> not_kept = {};
  friend bool operator==(const PartReport&, const PartReport&) = default;
};

// Named bounds.
inline constexpr std::size_t kMaxAssignmentsPerNode = 4'096;
inline constexpr std::size_t kMaxHeldParts = 8'192;
inline constexpr std::size_t kMaxLimitLines = 16;  // of PartReport::limits

}  // namespace lockstep
