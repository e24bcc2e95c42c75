#pragma once
// The desired-state protocol between launcher and node, as plain values: an Assignment says what a
// node must run, a PartReport what it runs. A `part` is one attempt's share on one node; one runner
// supervises it. Instead of start and stop commands, which could be lost, an assignment holds the
// wanted phase, which only moves forward.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/table.h"
#include "common/base/word.h"
#include "common/domain/job/spec.h"
#include "common/domain/runners/gang.h"
#include "common/domain/people/secrets.h"
#include "common/domain/ranks/bounds.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/ranks/found.h"
#include "common/domain/targets/fabric.h"
#include "common/domain/targets/node.h"
#include "common/domain/why/why.h"

namespace lockstep {

// Limits.
inline constexpr std::size_t kMaxAssignmentsPerNode = 4'096;
inline constexpr std::size_t kMaxHeldParts = 8'192;
inline constexpr std::size_t kMaxCredentialBytes = 64;
inline constexpr int kMostIdOfCpu = 1 << 20;  // the largest id of a cpu or of a GPU

// The resources that an attempt holds on one node.
struct Allotment {
  std::vector<int> cpus;  // logical cpu ids
  Bytes memory;
  std::vector<int> gpus;  // indexes of Inventory::gpus, PCI order
  static void table(auto& s, auto&& see) {
    see(field<1>, "cpus", s.cpus, {.low = 0, .high = kMostIdOfCpu, .count = kMostIdOfCpu});
    see(field<2>, "memory", s.memory);
    see(field<3>, "gpus", s.gpus, {.low = 0, .high = kMostIdOfCpu, .count = kMostIdOfCpu});
  }
  friend bool operator==(const Allotment&, const Allotment&) = default;
};

enum class WantedPhase {
  prepare,  // stage the workspace, start the runner, lease ports, report Prepared
  run,      // the gang table is known: start the ranks
  stop,     // SIGTERM, then SIGKILL after `grace`; report Finished
};
Word describe(WantedPhase phase);
std::string_view to_string(WantedPhase phase);

enum class StopReason { canceled, gang_failed, superseded };
Word describe(StopReason reason);
std::string_view to_string(StopReason reason);
constexpr StopReason last_enumerator(StopReason) { return StopReason::superseded; }

struct Assignment {
  AttemptId attempt;
  std::string experiment;  // the experiment's name, for AZUREML_EXPERIMENT_ID
  int node_rank = 0;
  JobSpec spec;
  Allotment allotment;
  WantedPhase phase = WantedPhase::prepare;
  SharedGang gang;  // set in phase run, unless `share` replaces it; node rank 0 gets both
  StopReason stop_reason = StopReason::canceled;
  Duration grace = seconds(10);  // the time between SIGTERM and SIGKILL
  bool solo =
      false;  // single-node attempt: phase is `run` at once, the runner fills the gang table
  // The time without a message from the launcher after which the node ends the ranks; 0 = it never
  // does.
  Duration lease{0};
  std::optional<CheckpointSource> checkpoint;  // the checkpoint with which the node's ranks begin
  EnvironmentPlan environment = {};  // the plan for spec.environment, as far as it is known
  // The existing ones of the secrets that spec.environment_variables names. They are kept only in
  // memory and messages: an assignment that was read from a file has none and waits for them.
  std::optional<SecretValues> secrets = {};
  // The secret CURVE key with which the attempt's ranks reach the launcher. Kept only in memory and
  // messages, as the secrets are; "": unknown.
  std::string credential = {};
  OperatorSettings operator_settings = {};  // the operator's fabric.yml, for this node
  // Set in phase run, if the gang's table goes down its tree: the agents and runners of all its
  // nodes then know this way.
  std::optional<GangShare> share = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "experiment", s.experiment);
    see(field<3>, "node_rank", s.node_rank);
    see(field<4>, "spec", s.spec);
    see(field<5>, "allotment", s.allotment);
    see(field<6>, "phase", s.phase);
    see(by_hand<7>, "gang", s.gang);
    see(field<8>, "stop_reason", s.stop_reason);
    see(field<9>, "grace", s.grace);
    see(field<10>, "solo", s.solo);
    see(field<11>, "lease", s.lease);
    see(field<12>, "checkpoint", s.checkpoint);
    see(field<30>, "environment", s.environment);
    see(by_hand<40>, "secrets", s.secrets);
    see(field<41>, "credential", s.credential, {.bytes = kMaxCredentialBytes});
    see(field<700>, "operator_settings", s.operator_settings, {.unless_empty = true});
    see(field<750>, "share", s.share);
  }
  friend bool operator==(const Assignment&, const Assignment&) = default;

  int nodes() const { return spec.resources.instance_count; }
  int ranks_here() const { return spec.ranks_on(node_rank); }
  int first_rank() const { return spec.first_rank_on(node_rank); }
};

struct DesiredState {
  std::uint64_t revision = 0;  // the revision of this node's desired state; it only grows
  std::vector<Assignment> assignments;
  // The node deletes environments that it built and that were not used since; ns = 0: none.
  Instant environments_unused_since = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "revision", s.revision);
    see(field<2>, "assignments", s.assignments, {.count = kMaxAssignmentsPerNode});
    see(field<30>, "environments_unused_since", s.environments_unused_since);
  }
  friend bool operator==(const DesiredState&, const DesiredState&) = default;
};

// States of a part. It only moves forward, and any state may jump to finished. `collecting`: the
// ranks have ended, and their outputs are being sent to the launcher.
enum class PartState { staging, prepared, running, stopping, collecting, finished };
Word describe(PartState state);
std::string_view to_string(PartState state);
constexpr PartState last_enumerator(PartState) { return PartState::finished; }

struct PartReport {
  AttemptId attempt;
  PartState state = PartState::staging;
  std::string progress;  // progress of the current step, in words ("fetching 3.1/12.0 MiB")
  std::uint16_t runner_port = 0;  // set from prepared on (0 when solo)
  PublicKey runner_key;
  std::uint16_t master_port = 0;       // set from prepared on, for node rank 0 only
  Instant started;                     // set from running on
  std::optional<NodeExitReport> exit;  // set when finished
  // The outputs of its ranks: when finished, all that are not empty; before, recent states of
  // ./logs and the checkpoint.
  std::vector<CollectedOutput> outputs;
  std::optional<CollectedOutput> restored;  // the checkpoint its ranks begin with, once staged
  std::optional<EnvironmentReport> environment = {};  // once the node has looked at it
  std::vector<Why> limits = {};  // the limits that its ranks reached; also in `exit`
  // What this node cannot do for the job; `exit` has it too.
  std::vector<Why> notes = {};
  // The ranks that have ended, sorted, before the part has finished; `exit` has them then.
  std::vector<RankEnd> ended = {};
  // The time that was subtracted from the node's times in this report. The launcher sets it when it
  // takes the report, and ignores the value of the node. Absent: unknown.
  std::optional<ClockOffset> clock = {};
  // Set when finished: files of its ranks that belong to no output. Absent: there are none, or
  // nobody looked.
  std::optional<NotKept> not_kept = {};
  // In the part of node rank 0, from running on: everything that holds among the ranks of the gang
  // now.
  FoundList found = {};
  // In the part of node rank 0: the result of the gang's probe; nullopt without a probe.
  std::optional<ProbeResult> probe = {};
  NetworkSettings settings = {};         // the settings of this node's first rank, from running on
  SettingOverrides other_settings = {};  // the settings in which its other ranks differ from the
                                         // first
  // In a gang's part, from prepared on: the form of GangRows that its runner and its agent
  // understand (an older agent does not pass the number on). 0: neither.
  std::uint32_t gang_rows = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "state", s.state);
    see(field<3>, "progress", s.progress, kCutText);
    see(field<4>, "runner_port", s.runner_port);
    see(field<5>, "runner_key", s.runner_key);
    see(field<6>, "master_port", s.master_port);
    see(field<7>, "started", s.started);
    see(field<8>, "exit", s.exit);
    see(field<9>, "outputs", s.outputs, {.count = kMaxCollectedOutputs});
    see(field<10>, "restored", s.restored);
    see(field<30>, "environment", s.environment);
    see(reason_fields<20, 810>, "limits", s.limits, {.count = kMaxLimitLines});
    see(reason_fields<105, 811>, "notes", s.notes, {.count = kMaxNoteLines});
    see(field<107>, "ended", s.ended, {.count = kMaxRanksPerNode});
    see(field<106>, "clock", s.clock);
    see(field<45>, "not_kept", s.not_kept);
    see(by_hand<700>, "found", s.found);
    see(field<701>, "probe", s.probe);
    see(field<702>, "settings", s.settings, {.count = kMaxNetworkSettings});
    see(field<720>, "other_settings", s.other_settings, {.count = kMaxSettingOverrides});
    see(field<750>, "gang_rows", s.gang_rows);
  }
  friend bool operator==(const PartReport&, const PartReport&) = default;
};

}  // namespace lockstep
