#pragma once
// Why a job waits: in the queue, for its nodes, and for what is left when its ranks have ended.
// What waits in a pipeline is in steps.h, why nodes cannot take a job in the reasons of a
// placement.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/job/queue_settings.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/people/quota.h"
#include "common/domain/targets/node.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- in the queue -------------------------------------------------------------------------------

struct WaitsToBePlaced {  // the launcher has not looked yet
  static constexpr std::string_view kCode = "waits_to_be_placed";
  LOCKSTEP_FIELDS(WaitsToBePlaced);
};

struct WaitsForQuota {
  static constexpr std::string_view kCode = "waits_for_quota";
  QuotaHolder::Kind holder_kind = QuotaHolder::Kind::user;
  std::string holder;
  QuotaLimit limit = QuotaLimit::running_jobs;
  std::uint64_t used = 0, most = 0;
  std::uint64_t asked = 0;  // the amount that the job asks for
  LOCKSTEP_FIELDS(WaitsForQuota, holder_kind, holder, limit, used, most, asked);
};

// The time at which a job that waits for busy nodes starts.
struct ExpectedStart {
  std::optional<Instant> at;  // the latest start; absent: unknown
  Why until;                  // the end that it waits for; or why `at` is unknown
  LOCKSTEP_FIELDS(ExpectedStart, at, until);
};

// The first that has to wait for busy nodes.
struct WaitsAtHead {
  static constexpr std::string_view kCode = "waits_at_head";
  Why why;  // why too few nodes are free
  ExpectedStart start;
  LOCKSTEP_FIELDS(WaitsAtHead, why, start);
};

struct WaitsBehindJob {
  static constexpr std::string_view kCode = "waits_behind_job";
  JobId job;
  Why why;  // why that job waits
  LOCKSTEP_FIELDS(WaitsBehindJob, job, why);
};

struct JobReachesItsLimit {
  static constexpr std::string_view kCode = "job_reaches_its_limit";
  JobId job;
  LOCKSTEP_FIELDS(JobReachesItsLimit, job);
};

struct JobHasNoLimit {  // limits.timeout
  static constexpr std::string_view kCode = "job_has_no_limit";
  JobId job;
  LOCKSTEP_FIELDS(JobHasNoLimit, job);
};

struct NodeIsReadyAgain {  // The node is UNKNOWN for a moment.
  static constexpr std::string_view kCode = "node_is_ready_again";
  std::string node;
  LOCKSTEP_FIELDS(NodeIsReadyAgain, node);
};

// Why a job was placed before one that waits for busy nodes.
enum class GoesFirst {
  ends_before,    // the job reaches its time limit before that job starts
  fits_beside,    // that job does not need the job's resources
  own_user,       // that job waits for jobs of its own user
  nodes_are_open  // that job's nodes are open to other users
};
std::string_view to_string(GoesFirst how);
constexpr GoesFirst last_enumerator(GoesFirst) { return GoesFirst::nodes_are_open; }

struct WentBeforeJob {
  static constexpr std::string_view kCode = "went_before_job";
  JobId job;
  ExpectedStart start;  // when that job starts
  GoesFirst how = GoesFirst::ends_before;
  std::optional<Instant> open_until;  // nodes_are_open
  LOCKSTEP_FIELDS(WentBeforeJob, job, start, how, open_until);
};

// ---- before it is in the queue ------------------------------------------------------------------

struct WaitsForJobs {
  static constexpr std::string_view kCode = "waits_for_jobs";
  JobId job;  // the first of them
  AfterWhen when = AfterWhen::completed;
  int more = 0;
  LOCKSTEP_FIELDS(WaitsForJobs, job, when, more);
};

struct WaitsForTime {  // not_before
  static constexpr std::string_view kCode = "waits_for_time";
  Instant at;
  LOCKSTEP_FIELDS(WaitsForTime, at);
};

struct WaitsToRetry {
  static constexpr std::string_view kCode = "waits_to_retry";
  Why after;  // how the last attempt ended, and which retry follows
  Duration left{0};
  Instant at;
  // The node on which ranks of the job may still run until then; "": there is none.
  std::string fenced_node;
  LOCKSTEP_FIELDS(WaitsToRetry, after, left, at, fenced_node);
};

struct WaitsAgain {
  static constexpr std::string_view kCode = "waits_again";
  Why after;  // the same field as in WaitsToRetry
  Why why;
  LOCKSTEP_FIELDS(WaitsAgain, after, why);
};

// ---- on its nodes -------------------------------------------------------------------------------

struct NodeStanding {
  std::string name;
  Liveness liveness = Liveness::alive;
  LOCKSTEP_FIELDS(NodeStanding, name, liveness);
};

struct PartProgress {
  std::string node;
  PartState state = PartState::staging;
  std::string said;  // the progress that the node reports; "": nothing
  Why why = {};      // why its part is lost
  LOCKSTEP_FIELDS(PartProgress, node, state, said, why);
};

// Waits for the first parts that have not reached the next state; `more` counts the others.
struct WaitsForParts {
  static constexpr std::string_view kCode = "waits_for_parts";
  std::vector<PartProgress> parts;
  int more = 0;
  LOCKSTEP_FIELDS(WaitsForParts, parts, more);
};

struct NodeSays {
  static constexpr std::string_view kCode = "node_says";
  std::string node;
  std::string said;
  LOCKSTEP_FIELDS(NodeSays, node, said);
};

struct WaitsForRanksToEnd {
  static constexpr std::string_view kCode = "waits_for_ranks_to_end";
  Why why;                           // the attempt is ended for that
  std::optional<NodeStanding> node;  // the first where they run; absent: their reports are awaited
  LOCKSTEP_FIELDS(WaitsForRanksToEnd, why, node);
};

struct WaitsToStop {  // The job was canceled.
  static constexpr std::string_view kCode = "waits_to_stop";
  std::optional<NodeStanding> node;  // the first that has not stopped it
  LOCKSTEP_FIELDS(WaitsToStop, node);
};

struct WaitsForVerdict {  // a rank failed, and a node that may know why is silent
  static constexpr std::string_view kCode = "waits_for_verdict";
  std::optional<NodeStanding> node;
  LOCKSTEP_FIELDS(WaitsForVerdict, node);
};

struct WaitsForLogs {
  static constexpr std::string_view kCode = "waits_for_logs";
  AttemptId attempt;
  NodeStanding node;
  Why why;  // why the logs do not come; none: unknown
  LOCKSTEP_FIELDS(WaitsForLogs, attempt, node, why);
};

struct OutputsAreMerged {
  static constexpr std::string_view kCode = "outputs_are_merged";
  LOCKSTEP_FIELDS(OutputsAreMerged);
};

using WaitReasons =
    List<WaitsToBePlaced, WaitsForQuota, WaitsAtHead, WaitsBehindJob, JobReachesItsLimit,
         JobHasNoLimit, NodeIsReadyAgain, WentBeforeJob, WaitsForJobs, WaitsForTime, WaitsToRetry,
         WaitsAgain, WaitsForParts, NodeSays, WaitsForRanksToEnd, WaitsToStop, WaitsForVerdict,
         WaitsForLogs, OutputsAreMerged>;

}  // namespace lockstep
