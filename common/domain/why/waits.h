#pragma once
// Why a job waits: in the queue, for its nodes, and for what is left when its ranks have ended.
// What waits in a pipeline is in steps.h, why nodes cannot take a job in the reasons of a
// placement.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/domain/assignment.h"
#include "common/domain/node.h"
#include "common/domain/queue_settings.h"
#include "common/domain/quota.h"
#include "common/domain/why/list.h"
#include "common/domain/why/why.h"

namespace lockstep {

// ---- in the queue -------------------------------------------------------------------------------

struct WaitsToBePlaced {  // the launcher has not looked yet
  static constexpr std::string_view kCode = "waits_to_be_placed";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const WaitsToBePlaced&, const WaitsToBePlaced&) = default;
};

struct WaitsForQuota {
  static constexpr std::string_view kCode = "waits_for_quota";
  QuotaHolder::Kind holder_kind = QuotaHolder::Kind::user;
  std::string holder;
  QuotaLimit limit = QuotaLimit::running_jobs;
  std::uint64_t used = 0, most = 0;
  std::uint64_t asked = 0;  // by the job
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("holder_kind", self.holder_kind);
    see("holder", self.holder);
    see("limit", self.limit);
    see("used", self.used);
    see("most", self.most);
    see("asked", self.asked);
  }
  friend bool operator==(const WaitsForQuota&, const WaitsForQuota&) = default;
};

// When a job that waits for busy nodes starts.
struct ExpectedStart {
  std::optional<Instant> at;  // at the latest; absent: unknown
  Why until;                  // what ends then; or why `at` is unknown
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("at", self.at);
    see("until", self.until);
  }
  friend bool operator==(const ExpectedStart&, const ExpectedStart&) = default;
};

// The first that has to wait for busy nodes.
struct WaitsAtHead {
  static constexpr std::string_view kCode = "waits_at_head";
  Why why;  // too few nodes are free
  ExpectedStart start;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
    see("start", self.start);
  }
  friend bool operator==(const WaitsAtHead&, const WaitsAtHead&) = default;
};

struct WaitsBehindJob {
  static constexpr std::string_view kCode = "waits_behind_job";
  JobId job;
  Why why;  // of that job
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("why", self.why);
  }
  friend bool operator==(const WaitsBehindJob&, const WaitsBehindJob&) = default;
};

struct JobReachesItsLimit {
  static constexpr std::string_view kCode = "job_reaches_its_limit";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const JobReachesItsLimit&, const JobReachesItsLimit&) = default;
};

struct JobHasNoLimit {  // limits.timeout
  static constexpr std::string_view kCode = "job_has_no_limit";
  JobId job;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
  }
  friend bool operator==(const JobHasNoLimit&, const JobHasNoLimit&) = default;
};

struct NodeIsReadyAgain {  // it is UNKNOWN for a moment
  static constexpr std::string_view kCode = "node_is_ready_again";
  std::string node;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
  }
  friend bool operator==(const NodeIsReadyAgain&, const NodeIsReadyAgain&) = default;
};

// Why a job was placed before one that waits for busy nodes.
enum class GoesFirst {
  ends_before,    // its time limit is reached before that job starts
  fits_beside,    // that job does not need its resources
  own_user,       // that job waits for jobs of its own user
  nodes_are_open  // that job's nodes are open to other users
};
std::string_view to_string(GoesFirst how);
constexpr GoesFirst last_enumerator(GoesFirst) { return GoesFirst::nodes_are_open; }

struct WentBeforeJob {
  static constexpr std::string_view kCode = "went_before_job";
  JobId job;
  ExpectedStart start;  // of that job
  GoesFirst how = GoesFirst::ends_before;
  std::optional<Instant> open_until;  // nodes_are_open
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("start", self.start);
    see("how", self.how);
    see("open_until", self.open_until);
  }
  friend bool operator==(const WentBeforeJob&, const WentBeforeJob&) = default;
};

// ---- before it is in the queue ------------------------------------------------------------------

struct WaitsForJobs {
  static constexpr std::string_view kCode = "waits_for_jobs";
  JobId job;  // the first of them
  AfterWhen when = AfterWhen::completed;
  int more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("job", self.job);
    see("when", self.when);
    see("more", self.more);
  }
  friend bool operator==(const WaitsForJobs&, const WaitsForJobs&) = default;
};

struct WaitsForTime {  // not_before
  static constexpr std::string_view kCode = "waits_for_time";
  Instant at;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("at", self.at);
  }
  friend bool operator==(const WaitsForTime&, const WaitsForTime&) = default;
};

struct WaitsToRetry {
  static constexpr std::string_view kCode = "waits_to_retry";
  Why after;  // how the last attempt ended, and which retry follows
  Duration left{0};
  Instant at;
  // Until then ranks of the job may still run on this node; "": there is none.
  std::string fenced_node;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("after", self.after);
    see("left", self.left);
    see("at", self.at);
    see("fenced_node", self.fenced_node);
  }
  friend bool operator==(const WaitsToRetry&, const WaitsToRetry&) = default;
};

struct WaitsAgain {
  static constexpr std::string_view kCode = "waits_again";
  Why after;  // as of WaitsToRetry
  Why why;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("after", self.after);
    see("why", self.why);
  }
  friend bool operator==(const WaitsAgain&, const WaitsAgain&) = default;
};

// ---- on its nodes -------------------------------------------------------------------------------

struct NodeStanding {
  std::string name;
  Liveness liveness = Liveness::alive;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("name", self.name);
    see("liveness", self.liveness);
  }
  friend bool operator==(const NodeStanding&, const NodeStanding&) = default;
};

struct PartProgress {
  std::string node;
  PartState state = PartState::staging;
  std::string said;  // by the node; "": nothing
  Why why = {};      // its part is lost
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("state", self.state);
    see("said", self.said);
    see("why", self.why);
  }
  friend bool operator==(const PartProgress&, const PartProgress&) = default;
};

// For the first parts that have not reached the next state, and how many more there are.
struct WaitsForParts {
  static constexpr std::string_view kCode = "waits_for_parts";
  std::vector<PartProgress> parts;
  int more = 0;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("parts", self.parts);
    see("more", self.more);
  }
  friend bool operator==(const WaitsForParts&, const WaitsForParts&) = default;
};

struct NodeSays {
  static constexpr std::string_view kCode = "node_says";
  std::string node;
  std::string said;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
    see("said", self.said);
  }
  friend bool operator==(const NodeSays&, const NodeSays&) = default;
};

struct WaitsForRanksToEnd {
  static constexpr std::string_view kCode = "waits_for_ranks_to_end";
  Why why;                           // the attempt is ended for that
  std::optional<NodeStanding> node;  // the first where they run; absent: their reports are awaited
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("why", self.why);
    see("node", self.node);
  }
  friend bool operator==(const WaitsForRanksToEnd&, const WaitsForRanksToEnd&) = default;
};

struct WaitsToStop {  // it was canceled
  static constexpr std::string_view kCode = "waits_to_stop";
  std::optional<NodeStanding> node;  // the first that has not stopped it
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
  }
  friend bool operator==(const WaitsToStop&, const WaitsToStop&) = default;
};

struct WaitsForVerdict {  // a rank failed, and a node that may know why is silent
  static constexpr std::string_view kCode = "waits_for_verdict";
  std::optional<NodeStanding> node;
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("node", self.node);
  }
  friend bool operator==(const WaitsForVerdict&, const WaitsForVerdict&) = default;
};

struct WaitsForLogs {
  static constexpr std::string_view kCode = "waits_for_logs";
  AttemptId attempt;
  NodeStanding node;
  Why why;  // they do not come; none: unknown
  template <class Self, class See>
  static void fields(Self& self, See&& see) {
    see("attempt", self.attempt);
    see("node", self.node);
    see("why", self.why);
  }
  friend bool operator==(const WaitsForLogs&, const WaitsForLogs&) = default;
};

struct OutputsAreMerged {
  static constexpr std::string_view kCode = "outputs_are_merged";
  template <class Self, class See>
  static void fields(Self&, See&&) {}
  friend bool operator==(const OutputsAreMerged&, const OutputsAreMerged&) = default;
};

using WaitReasons =
    List<WaitsToBePlaced, WaitsForQuota, WaitsAtHead, WaitsBehindJob, JobReachesItsLimit,
         JobHasNoLimit, NodeIsReadyAgain, WentBeforeJob, WaitsForJobs, WaitsForTime, WaitsToRetry,
         WaitsAgain, WaitsForParts, NodeSays, WaitsForRanksToEnd, WaitsToStop, WaitsForVerdict,
         WaitsForLogs, OutputsAreMerged>;

}  // namespace lockstep
