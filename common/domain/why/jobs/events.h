#pragma once
// The texts of events of a job or of a node (`lockstep job events`, `node show --history`) that are
// not the reason of anything else.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/data/outputs.h"
#include "common/domain/job/job_status.h"
#include "common/domain/job/queue_settings.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/why/jobs/named_found.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- of a job -----------------------------------------------------------------------------------

struct DoneBy {
  static constexpr std::string_view kCode = "done_by";
  Why who;
  LOCKSTEP_FIELDS(DoneBy, who);
};

struct PriorityIs {
  static constexpr std::string_view kCode = "priority_is";
  Priority priority = Priority::medium;
  std::string by = {};
  LOCKSTEP_FIELDS(PriorityIs, priority, by);
};

struct StepHasJob {
  static constexpr std::string_view kCode = "step_has_job";
  std::string step;
  JobId job = {};
  LOCKSTEP_FIELDS(StepHasJob, step, job);
};

struct StepReusesJob {
  static constexpr std::string_view kCode = "step_reuses_job";
  std::string step;
  JobId job = {};  // the job whose outputs are reused
  LOCKSTEP_FIELDS(StepReusesJob, step, job);
};

struct StepLeftOut {
  static constexpr std::string_view kCode = "step_left_out";
  std::string step;
  Why why = {};
  LOCKSTEP_FIELDS(StepLeftOut, step, why);
};

struct JobIs {  // The job has ended.
  static constexpr std::string_view kCode = "job_is";
  JobStatus status = JobStatus::completed;
  Why why = {};
  LOCKSTEP_FIELDS(JobIs, status, why);
};

struct EndedFor {  // Nothing but the cause is known.
  static constexpr std::string_view kCode = "ended_for";
  Cause cause = Cause::completed;
  LOCKSTEP_FIELDS(EndedFor, cause);
};

struct OutputIsWritten {
  static constexpr std::string_view kCode = "output_written";
  std::string output;
  std::string to = {};
  LOCKSTEP_FIELDS(OutputIsWritten, output, to);
};

struct OutputGivenUp {
  static constexpr std::string_view kCode = "output_given_up";
  std::string output;
  std::string to = {};
  std::uint32_t tries = 0;
  Why why = {};  // why the last try failed
  LOCKSTEP_FIELDS(OutputGivenUp, output, to, tries, why);
};

// ---- of its attempts ----------------------------------------------------------------------------

struct PlacedOn {
  static constexpr std::string_view kCode = "placed_on";
  std::vector<std::string> nodes;  // the first nodes
  int more = 0;
  LOCKSTEP_FIELDS(PlacedOn, nodes, more);
};

struct NodesBegin {  // The nodes begin to prepare.
  static constexpr std::string_view kCode = "nodes_begin";
  LOCKSTEP_FIELDS(NodesBegin);
};

struct NodesAreReady {
  static constexpr std::string_view kCode = "nodes_ready";
  int nodes = 0;
  LOCKSTEP_FIELDS(NodesAreReady, nodes);
};

struct NodesConnect {
  static constexpr std::string_view kCode = "nodes_connect";
  int nodes = 0;
  LOCKSTEP_FIELDS(NodesConnect, nodes);
};

struct RanksStarted {
  static constexpr std::string_view kCode = "ranks_started";
  LOCKSTEP_FIELDS(RanksStarted);
};

struct RanksEnded {
  static constexpr std::string_view kCode = "ranks_ended";
  LOCKSTEP_FIELDS(RanksEnded);
};

struct CollectedOne {
  OutputKind kind = OutputKind::outputs;
  std::string name = {};  // for a named output
  bool collected = false;
  std::uint64_t files = 0;
  Bytes size = {};
  int left_out = 0;  // files
  LOCKSTEP_FIELDS(CollectedOne, kind, name, collected, files, size, left_out);
};

struct OutputsCollected {
  static constexpr std::string_view kCode = "outputs_collected";
  std::vector<CollectedOne> outputs;
  LOCKSTEP_FIELDS(OutputsCollected, outputs);
};

struct OutputNotKept {
  static constexpr std::string_view kCode = "output_not_kept";
  OutputKind kind = OutputKind::outputs;
  std::string name = {};  // for a named output
  std::string said = {};  // the reason that its node gives
  LOCKSTEP_FIELDS(OutputNotKept, kind, name, said);
};

struct NewerNotKept {  // outputs and checkpoints of a job that runs
  static constexpr std::string_view kCode = "newer_not_kept";
  std::string said;  // why
  LOCKSTEP_FIELDS(NewerNotKept, said);
};

struct LastLogsLost {
  static constexpr std::string_view kCode = "last_logs_lost";
  Bytes bytes;  // bytes for which the launcher had no space; 0: they came too late
  LOCKSTEP_FIELDS(LastLogsLost, bytes);
};

struct RanksFound {  // Something holds among the ranks.
  static constexpr std::string_view kCode = "ranks_found";
  NamedFound found;
  LOCKSTEP_FIELDS(RanksFound, found);
};

struct RanksGoOn {
  static constexpr std::string_view kCode = "ranks_go_on";
  NamedFound found;  // the finding that does not hold any more
  LOCKSTEP_FIELDS(RanksGoOn, found);
};

// ---- of what may pass ---------------------------------------------------------------------------

struct NodeIsUnknown {  // The node's ranks may still run.
  static constexpr std::string_view kCode = "node_is_unknown";
  Why why;
  LOCKSTEP_FIELDS(NodeIsUnknown, why);
};

struct NodeReportsAgain {
  static constexpr std::string_view kCode = "node_reports_again";
  LOCKSTEP_FIELDS(NodeReportsAgain);
};

struct LauncherTakesNoLogs {
  static constexpr std::string_view kCode = "launcher_takes_no_logs";
  std::string said;  // why
  LOCKSTEP_FIELDS(LauncherTakesNoLogs, said);
};

struct RanksWriteAgain {  // Their output had to wait.
  static constexpr std::string_view kCode = "ranks_write_again";
  LOCKSTEP_FIELDS(RanksWriteAgain);
};

struct NotMergedYet {
  static constexpr std::string_view kCode = "not_merged_yet";
  std::string said;  // why
  LOCKSTEP_FIELDS(NotMergedYet, said);
};

struct RanksSignaled {
  static constexpr std::string_view kCode = "ranks_signaled";
  int signal = 0;
  std::optional<int> rank = {};  // absent: all of the node
  std::string by = {};
  LOCKSTEP_FIELDS(RanksSignaled, signal, rank, by);
};

// ---- of a node ----------------------------------------------------------------------------------

struct ApprovalPending {
  static constexpr std::string_view kCode = "approval_pending";
  LOCKSTEP_FIELDS(ApprovalPending);
};

struct AgentHasVersion {
  static constexpr std::string_view kCode = "agent_has_version";
  std::string version;
  LOCKSTEP_FIELDS(AgentHasVersion, version);
};

struct TakenAwayAt {
  static constexpr std::string_view kCode = "taken_away_at";
  Instant at;
  Why why = {};
  LOCKSTEP_FIELDS(TakenAwayAt, at, why);
};

using EventReasons =
    List<DoneBy, PriorityIs, StepHasJob, StepReusesJob, StepLeftOut, JobIs, EndedFor,
         OutputIsWritten, OutputGivenUp, PlacedOn, NodesBegin, NodesAreReady, NodesConnect,
         RanksStarted, RanksEnded, OutputsCollected, OutputNotKept, NewerNotKept, LastLogsLost,
         RanksFound, RanksGoOn, NodeIsUnknown, NodeReportsAgain, LauncherTakesNoLogs,
         RanksWriteAgain, NotMergedYet, RanksSignaled, ApprovalPending, AgentHasVersion,
         TakenAwayAt>;

}  // namespace lockstep
