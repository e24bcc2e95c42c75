#pragma once
// The lines of `lockstep job explain` that have no reason of their own elsewhere: what happened to
// a job's attempts, its place in the queue, and why a step's results were reused or not.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/fields.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/job/distribution.h"
#include "common/domain/job/queue_settings.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/why/list.h"
#include "common/domain/why/nodes/placement.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- its attempts -------------------------------------------------------------------------------

struct RanksAreBound {  // The ranks are bound as the job asks, not automatically.
  static constexpr std::string_view kCode = "ranks_are_bound";
  Binding binding = Binding::none;
  LOCKSTEP_FIELDS(RanksAreBound, binding);
};

struct AttemptWasPlaced {
  static constexpr std::string_view kCode = "attempt_was_placed";
  std::uint32_t attempt = 0;
  Instant at;
  LOCKSTEP_FIELDS(AttemptWasPlaced, attempt, at);
};

struct SomeNodesAreApart {  // For readers who may not know which nodes of a gang are apart.
  static constexpr std::string_view kCode = "some_nodes_are_apart";
  LOCKSTEP_FIELDS(SomeNodesAreApart);
};

struct AttemptEndedWith {
  static constexpr std::string_view kCode = "attempt_ended_with";
  Cause cause = Cause::completed;
  Why why;  // none: the reason is not told
  LOCKSTEP_FIELDS(AttemptEndedWith, cause, why);
};

struct AttemptEndedLike {
  static constexpr std::string_view kCode = "attempt_ended_like";
  std::uint32_t attempt = 0;  // the attempt before
  LOCKSTEP_FIELDS(AttemptEndedLike, attempt);
};

struct AttemptWasFollowed {  // Another attempt followed.
  static constexpr std::string_view kCode = "attempt_was_followed";
  Why why;  // none: the reason is not told
  LOCKSTEP_FIELDS(AttemptWasFollowed, why);
};

// ---- its place in the queue ---------------------------------------------------------------------

struct PlaceInQueue {
  static constexpr std::string_view kCode = "place_in_queue";
  int position = 0;
  Priority priority = Priority::medium;
  Why why;  // why the job waits
  LOCKSTEP_FIELDS(PlaceInQueue, position, priority, why);
};

struct JobAhead {
  JobId job;
  std::optional<Priority> priority;  // if it differs
  LOCKSTEP_FIELDS(JobAhead, job, priority);
};

struct JobsAreAhead {
  static constexpr std::string_view kCode = "jobs_are_ahead";
  std::vector<JobAhead> jobs;  // the first of them
  std::uint64_t more = 0;
  LOCKSTEP_FIELDS(JobsAreAhead, jobs, more);
};

struct ShareOfUser {
  static constexpr std::string_view kCode = "share_of_user";
  std::string user;
  double share = 0;
  std::string target;
  Priority priority = Priority::medium;
  int before = 0;  // users with a smaller share, whose jobs of this priority go first
  LOCKSTEP_FIELDS(ShareOfUser, user, share, target, priority, before);
};

struct CouldStartBefore {  // The job could start earlier if it had a shorter time limit.
  static constexpr std::string_view kCode = "could_start_before";
  JobId job;
  std::optional<Duration> limit;  // the longest such limit; absent: none is short enough
  std::optional<Duration> has;    // the job's time limit
  LOCKSTEP_FIELDS(CouldStartBefore, job, limit, has);
};

struct WaitsForOwnUser {  // The job waits for jobs of its own user; no nodes are kept for it.
  static constexpr std::string_view kCode = "waits_for_own_user";
  std::string user;
  LOCKSTEP_FIELDS(WaitsForOwnUser, user);
};

struct NodesAreKept {  // Its nodes are kept in turns, since its start is unknown.
  static constexpr std::string_view kCode = "nodes_are_kept";
  bool are_open = false;  // open to other users in this turn
  Instant until;
  LOCKSTEP_FIELDS(NodesAreKept, are_open, until);
};

struct JobAsksFor {
  static constexpr std::string_view kCode = "job_asks_for";
  NodesAsked what;
  std::string target;
  std::string size;  // the size of the target; "": it has none
  LOCKSTEP_FIELDS(JobAsksFor, what, target, size);
};

// ---- whose results a step reuses ----------------------------------------------------------------

struct IsStepOf {
  static constexpr std::string_view kCode = "is_step_of";
  std::string step;
  JobId pipeline;
  LOCKSTEP_FIELDS(IsStepOf, step, pipeline);
};

struct StepReuses {
  static constexpr std::string_view kCode = "step_reuses";
  std::string step;
  JobId job;
  LOCKSTEP_FIELDS(StepReuses, step, job);
};

enum class NotReused {
  as_asked,    // the job has force_rerun, or is_deterministic: false
  no_outputs,  // the step was written for its effect
  no_key,      // nothing tells whether what it reads is the same
};
std::string_view to_string(NotReused cause);
constexpr NotReused last_enumerator(NotReused) { return NotReused::no_key; }

struct NoResultIsReused {
  static constexpr std::string_view kCode = "no_result_is_reused";
  NotReused cause = NotReused::as_asked;
  LOCKSTEP_FIELDS(NoResultIsReused, cause);
};

struct NoEarlierRun {
  static constexpr std::string_view kCode = "no_earlier_run";
  LOCKSTEP_FIELDS(NoEarlierRun);
};

struct NoRunHadThisContent {
  static constexpr std::string_view kCode = "no_run_had_this_content";
  LOCKSTEP_FIELDS(NoRunHadThisContent);
};

struct CompletedTooLate {  // The job with the same content completed too late.
  static constexpr std::string_view kCode = "completed_too_late";
  JobId job;
  LOCKSTEP_FIELDS(CompletedTooLate, job);
};

struct ChangedFiles {
  std::uint64_t added = 0, removed = 0, changed = 0;
  std::string first;  // the path of the first of them
  bool more = false;  // true: more than were counted
  LOCKSTEP_FIELDS(ChangedFiles, added, removed, changed, first, more);
};

struct ChangedPart {
  std::string part;  // "code", "command", "input 'data'"
  std::optional<ChangedFiles> files;
  LOCKSTEP_FIELDS(ChangedPart, part, files);
};

struct RunsAgain {
  static constexpr std::string_view kCode = "runs_again";
  JobId before;  // the run of the step that could have been reused
  std::vector<ChangedPart> parts;
  LOCKSTEP_FIELDS(RunsAgain, before, parts);
};

using ExplainReasons =
    List<RanksAreBound, AttemptWasPlaced, SomeNodesAreApart, AttemptEndedWith, AttemptEndedLike,
         AttemptWasFollowed, PlaceInQueue, JobsAreAhead, ShareOfUser, CouldStartBefore,
         WaitsForOwnUser, NodesAreKept, JobAsksFor, IsStepOf, StepReuses, NoResultIsReused,
         NoEarlierRun, NoRunHadThisContent, CompletedTooLate, RunsAgain>;

}  // namespace lockstep
