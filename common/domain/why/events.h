#pragma once
// What an event of a job or of a node says (`lockstep job events`, `node show --history`), where it
// is not the reason of something else.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_status.h"
#include "common/domain/outputs.h"
#include "common/domain/queue_settings.h"
#include "common/domain/why/list.h"
#include "common/domain/why/named_found.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- of a job -----------------------------------------------------------------------------------

struct DoneBy {
  static constexpr std::string_view kCode = "done_by";
  Why who;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("who", self.who);
  }
  friend bool operator==(const DoneBy&, const DoneBy&) = default;
};

struct PriorityIs {
  static constexpr std::string_view kCode = "priority_is";
  Priority priority = Priority::medium;
  std::string by = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("priority", self.priority);
    see("by", self.by);
  }
  friend bool operator==(const PriorityIs&, const PriorityIs&) = default;
};

struct StepHasJob {
  static constexpr std::string_view kCode = "step_has_job";
  std::string step;
  JobId job = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("job", self.job);
  }
  friend bool operator==(const StepHasJob&, const StepHasJob&) = default;
};

struct StepReusesJob {
  static constexpr std::string_view kCode = "step_reuses_job";
  std::string step;
  JobId job = {};  // whose outputs are reused
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("job", self.job);
  }
  friend bool operator==(const StepReusesJob&, const StepReusesJob&) = default;
};

struct StepLeftOut {
  static constexpr std::string_view kCode = "step_left_out";
  std::string step;
  Why why = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("why", self.why);
  }
  friend bool operator==(const StepLeftOut&, const StepLeftOut&) = default;
};

struct JobIs {  // it has ended
  static constexpr std::string_view kCode = "job_is";
  JobStatus status = JobStatus::completed;
  Why why = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("status", self.status);
    see("why", self.why);
  }
  friend bool operator==(const JobIs&, const JobIs&) = default;
};

struct EndedFor {  // nothing more is known
  static constexpr std::string_view kCode = "ended_for";
  Cause cause = Cause::completed;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("cause", self.cause);
  }
  friend bool operator==(const EndedFor&, const EndedFor&) = default;
};

struct OutputIsWritten {
  static constexpr std::string_view kCode = "output_written";
  std::string output;
  std::string to = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("output", self.output);
    see("to", self.to);
  }
  friend bool operator==(const OutputIsWritten&, const OutputIsWritten&) = default;
};

struct OutputGivenUp {
  static constexpr std::string_view kCode = "output_given_up";
  std::string output;
  std::string to = {};
  std::uint32_t tries = 0;
  Why why = {};  // the last one failed
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("output", self.output);
    see("to", self.to);
    see("tries", self.tries);
    see("why", self.why);
  }
  friend bool operator==(const OutputGivenUp&, const OutputGivenUp&) = default;
};

// ---- of its attempts ----------------------------------------------------------------------------

struct PlacedOn {
  static constexpr std::string_view kCode = "placed_on";
  std::vector<std::string> nodes;  // the first ones
  int more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("nodes", self.nodes);
    see("more", self.more);
  }
  friend bool operator==(const PlacedOn&, const PlacedOn&) = default;
};

struct NodesBegin {  // to prepare
  static constexpr std::string_view kCode = "nodes_begin";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodesBegin&, const NodesBegin&) = default;
};

struct NodesAreReady {
  static constexpr std::string_view kCode = "nodes_ready";
  int nodes = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("nodes", self.nodes);
  }
  friend bool operator==(const NodesAreReady&, const NodesAreReady&) = default;
};

struct NodesConnect {
  static constexpr std::string_view kCode = "nodes_connect";
  int nodes = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("nodes", self.nodes);
  }
  friend bool operator==(const NodesConnect&, const NodesConnect&) = default;
};

struct RanksStarted {
  static constexpr std::string_view kCode = "ranks_started";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RanksStarted&, const RanksStarted&) = default;
};

struct RanksEnded {
  static constexpr std::string_view kCode = "ranks_ended";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RanksEnded&, const RanksEnded&) = default;
};

struct CollectedOne {
  OutputKind kind = OutputKind::outputs;
  std::string name = {};  // of a named output
  bool collected = false;
  std::uint64_t files = 0;
  Bytes size = {};
  int left_out = 0;  // files
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("kind", self.kind);
    see("name", self.name);
    see("collected", self.collected);
    see("files", self.files);
    see("size", self.size);
    see("left_out", self.left_out);
  }
  friend bool operator==(const CollectedOne&, const CollectedOne&) = default;
};

struct OutputsCollected {
  static constexpr std::string_view kCode = "outputs_collected";
  std::vector<CollectedOne> outputs;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("outputs", self.outputs);
  }
  friend bool operator==(const OutputsCollected&, const OutputsCollected&) = default;
};

struct OutputNotKept {
  static constexpr std::string_view kCode = "output_not_kept";
  OutputKind kind = OutputKind::outputs;
  std::string name = {};  // of a named output
  std::string said = {};  // as its node says
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("kind", self.kind);
    see("name", self.name);
    see("said", self.said);
  }
  friend bool operator==(const OutputNotKept&, const OutputNotKept&) = default;
};

struct NewerNotKept {  // outputs and checkpoints of a job that runs
  static constexpr std::string_view kCode = "newer_not_kept";
  std::string said;  // why
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const NewerNotKept&, const NewerNotKept&) = default;
};

struct LastLogsLost {
  static constexpr std::string_view kCode = "last_logs_lost";
  Bytes bytes;  // for which the launcher had no space; 0: they came too late
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("bytes", self.bytes);
  }
  friend bool operator==(const LastLogsLost&, const LastLogsLost&) = default;
};

struct RanksFound {  // something holds among them
  static constexpr std::string_view kCode = "ranks_found";
  NamedFound found;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("found", self.found);
  }
  friend bool operator==(const RanksFound&, const RanksFound&) = default;
};

struct RanksGoOn {
  static constexpr std::string_view kCode = "ranks_go_on";
  NamedFound found;  // that does not hold any more
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("found", self.found);
  }
  friend bool operator==(const RanksGoOn&, const RanksGoOn&) = default;
};

// ---- of what may pass ---------------------------------------------------------------------------

struct NodeIsUnknown {  // what runs there may go on
  static constexpr std::string_view kCode = "node_is_unknown";
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const NodeIsUnknown&, const NodeIsUnknown&) = default;
};

struct NodeReportsAgain {
  static constexpr std::string_view kCode = "node_reports_again";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NodeReportsAgain&, const NodeReportsAgain&) = default;
};

struct LauncherTakesNoLogs {
  static constexpr std::string_view kCode = "launcher_takes_no_logs";
  std::string said;  // why
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const LauncherTakesNoLogs&, const LauncherTakesNoLogs&) = default;
};

struct RanksWriteAgain {  // their output waited
  static constexpr std::string_view kCode = "ranks_write_again";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const RanksWriteAgain&, const RanksWriteAgain&) = default;
};

struct NotMergedYet {
  static constexpr std::string_view kCode = "not_merged_yet";
  std::string said;  // why
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("said", self.said);
  }
  friend bool operator==(const NotMergedYet&, const NotMergedYet&) = default;
};

struct RanksSignaled {
  static constexpr std::string_view kCode = "ranks_signaled";
  int signal = 0;
  std::optional<int> rank = {};  // absent: all of the node
  std::string by = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("signal", self.signal);
    see("rank", self.rank);
    see("by", self.by);
  }
  friend bool operator==(const RanksSignaled&, const RanksSignaled&) = default;
};

// ---- of a node ----------------------------------------------------------------------------------

struct ApprovalPending {
  static constexpr std::string_view kCode = "approval_pending";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const ApprovalPending&, const ApprovalPending&) = default;
};

struct AgentHasVersion {
  static constexpr std::string_view kCode = "agent_has_version";
  std::string version;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("version", self.version);
  }
  friend bool operator==(const AgentHasVersion&, const AgentHasVersion&) = default;
};

struct TakenAwayAt {
  static constexpr std::string_view kCode = "taken_away_at";
  Instant at;
  Why why = {};
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("at", self.at);
    see("why", self.why);
  }
  friend bool operator==(const TakenAwayAt&, const TakenAwayAt&) = default;
};

using EventReasons =
    List<DoneBy, PriorityIs, StepHasJob, StepReusesJob, StepLeftOut, JobIs, EndedFor,
         OutputIsWritten, OutputGivenUp, PlacedOn, NodesBegin, NodesAreReady, NodesConnect,
         RanksStarted, RanksEnded, OutputsCollected, OutputNotKept, NewerNotKept, LastLogsLost,
         RanksFound, RanksGoOn, NodeIsUnknown, NodeReportsAgain, LauncherTakesNoLogs,
         RanksWriteAgain, NotMergedYet, RanksSignaled, ApprovalPending, AgentHasVersion,
         TakenAwayAt>;

}  // namespace lockstep
