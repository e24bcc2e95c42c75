#pragma once
// The lines of `lockstep job explain` that have no reason of their own elsewhere: what happened to
// a job's attempts, its place in the queue, and why a step's results were reused or not.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/distribution.h"
#include "common/domain/exit_report.h"
#include "common/domain/queue_settings.h"
#include "common/domain/why/list.h"
#include "common/domain/why/placement.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- its attempts -------------------------------------------------------------------------------

struct RanksAreBound {  // not automatically
  static constexpr std::string_view kCode = "ranks_are_bound";
  Binding binding = Binding::none;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("binding", self.binding);
  }
  friend bool operator==(const RanksAreBound&, const RanksAreBound&) = default;
};

struct AttemptWasPlaced {
  static constexpr std::string_view kCode = "attempt_was_placed";
  std::uint32_t attempt = 0;
  Instant at;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempt", self.attempt);
    see("at", self.at);
  }
  friend bool operator==(const AttemptWasPlaced&, const AttemptWasPlaced&) = default;
};

struct SomeNodesAreApart {  // of a gang: for those who are not told which
  static constexpr std::string_view kCode = "some_nodes_are_apart";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const SomeNodesAreApart&, const SomeNodesAreApart&) = default;
};

struct AttemptEndedWith {
  static constexpr std::string_view kCode = "attempt_ended_with";
  Cause cause = Cause::completed;
  Why why;  // none: not told
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("cause", self.cause);
    see("why", self.why);
  }
  friend bool operator==(const AttemptEndedWith&, const AttemptEndedWith&) = default;
};

struct AttemptEndedLike {
  static constexpr std::string_view kCode = "attempt_ended_like";
  std::uint32_t attempt = 0;  // the one before
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempt", self.attempt);
  }
  friend bool operator==(const AttemptEndedLike&, const AttemptEndedLike&) = default;
};

struct AttemptWasFollowed {  // by another one
  static constexpr std::string_view kCode = "attempt_was_followed";
  Why why;  // none: not told
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
  }
  friend bool operator==(const AttemptWasFollowed&, const AttemptWasFollowed&) = default;
};

// ---- its place in the queue ---------------------------------------------------------------------

struct PlaceInQueue {
  static constexpr std::string_view kCode = "place_in_queue";
  int position = 0;
  Priority priority = Priority::medium;
  Why why;  // it waits
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("position", self.position);
    see("priority", self.priority);
    see("why", self.why);
  }
  friend bool operator==(const PlaceInQueue&, const PlaceInQueue&) = default;
};

struct JobAhead {
  JobId job;
  std::optional<Priority> priority;  // if it is another one
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("priority", self.priority);
  }
  friend bool operator==(const JobAhead&, const JobAhead&) = default;
};

struct JobsAreAhead {
  static constexpr std::string_view kCode = "jobs_are_ahead";
  std::vector<JobAhead> jobs;  // the first of them
  std::uint64_t more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("jobs", self.jobs);
    see("more", self.more);
  }
  friend bool operator==(const JobsAreAhead&, const JobsAreAhead&) = default;
};

struct ShareOfUser {
  static constexpr std::string_view kCode = "share_of_user";
  std::string user;
  double share = 0;
  std::string target;
  Priority priority = Priority::medium;
  int before = 0;  // users with a smaller share, whose jobs of this priority go first
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("user", self.user);
    see("share", self.share);
    see("target", self.target);
    see("priority", self.priority);
    see("before", self.before);
  }
  friend bool operator==(const ShareOfUser&, const ShareOfUser&) = default;
};

struct CouldStartBefore {  // with a time limit
  static constexpr std::string_view kCode = "could_start_before";
  JobId job;
  std::optional<Duration> limit;  // at most; absent: none is short enough
  std::optional<Duration> has;    // its time limit
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("limit", self.limit);
    see("has", self.has);
  }
  friend bool operator==(const CouldStartBefore&, const CouldStartBefore&) = default;
};

struct WaitsForOwnUser {  // its nodes are kept from nobody else
  static constexpr std::string_view kCode = "waits_for_own_user";
  std::string user;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("user", self.user);
  }
  friend bool operator==(const WaitsForOwnUser&, const WaitsForOwnUser&) = default;
};

struct NodesAreKept {  // in turns, as it is unknown when it can start
  static constexpr std::string_view kCode = "nodes_are_kept";
  bool are_open = false;  // to other users, in this turn
  Instant until;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("are_open", self.are_open);
    see("until", self.until);
  }
  friend bool operator==(const NodesAreKept&, const NodesAreKept&) = default;
};

struct JobAsksFor {
  static constexpr std::string_view kCode = "job_asks_for";
  NodesAsked what;
  std::string target;
  std::string size;  // of the target; "": it has none
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("what", self.what);
    see("target", self.target);
    see("size", self.size);
  }
  friend bool operator==(const JobAsksFor&, const JobAsksFor&) = default;
};

// ---- whose results a step reuses ----------------------------------------------------------------

struct IsStepOf {
  static constexpr std::string_view kCode = "is_step_of";
  std::string step;
  JobId pipeline;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("pipeline", self.pipeline);
  }
  friend bool operator==(const IsStepOf&, const IsStepOf&) = default;
};

struct StepReuses {
  static constexpr std::string_view kCode = "step_reuses";
  std::string step;
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("step", self.step);
    see("job", self.job);
  }
  friend bool operator==(const StepReuses&, const StepReuses&) = default;
};

enum class NotReused {
  as_asked,    // force_rerun, or is_deterministic: false
  no_outputs,  // it was written for its effect
  no_key,      // nothing tells whether what it reads is the same
};
std::string_view to_string(NotReused cause);
constexpr NotReused last_enumerator(NotReused) { return NotReused::no_key; }

struct NoResultIsReused {
  static constexpr std::string_view kCode = "no_result_is_reused";
  NotReused cause = NotReused::as_asked;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("cause", self.cause);
  }
  friend bool operator==(const NoResultIsReused&, const NoResultIsReused&) = default;
};

struct NoEarlierRun {
  static constexpr std::string_view kCode = "no_earlier_run";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoEarlierRun&, const NoEarlierRun&) = default;
};

struct NoRunHadThisContent {
  static constexpr std::string_view kCode = "no_run_had_this_content";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const NoRunHadThisContent&, const NoRunHadThisContent&) = default;
};

struct CompletedTooLate {  // that job had the same content
  static constexpr std::string_view kCode = "completed_too_late";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const CompletedTooLate&, const CompletedTooLate&) = default;
};

struct ChangedFiles {
  std::uint64_t added = 0, removed = 0, changed = 0;
  std::string first;  // the path of the first of them
  bool more = false;  // than were counted
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("added", self.added);
    see("removed", self.removed);
    see("changed", self.changed);
    see("first", self.first);
    see("more", self.more);
  }
  friend bool operator==(const ChangedFiles&, const ChangedFiles&) = default;
};

struct ChangedPart {
  std::string part;  // "code", "command", "input 'data'"
  std::optional<ChangedFiles> files;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("part", self.part);
    see("files", self.files);
  }
  friend bool operator==(const ChangedPart&, const ChangedPart&) = default;
};

struct RunsAgain {
  static constexpr std::string_view kCode = "runs_again";
  JobId before;  // the run of the step that could have been reused
  std::vector<ChangedPart> parts;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("before", self.before);
    see("parts", self.parts);
  }
  friend bool operator==(const RunsAgain&, const RunsAgain&) = default;
};

using ExplainReasons =
    List<RanksAreBound, AttemptWasPlaced, SomeNodesAreApart, AttemptEndedWith, AttemptEndedLike,
         AttemptWasFollowed, PlaceInQueue, JobsAreAhead, ShareOfUser, CouldStartBefore,
         WaitsForOwnUser, NodesAreKept, JobAsksFor, IsStepOf, StepReuses, NoResultIsReused,
         NoEarlierRun, NoRunHadThisContent, CompletedTooLate, RunsAgain>;

}  // namespace lockstep
