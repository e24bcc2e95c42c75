#pragma once
// The record of one job in the state, with its attempts and their parts.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"
#include "launcher/state/event.h"
#include "launcher/state/facts/fact.h"
#include "launcher/state/jobs/ended.h"
#include "launcher/state/jobs/steps.h"

namespace lockstep::launcher {

// The part of an attempt on one node.
struct Part {
  struct Saved {
    CollectedOutput checkpoint;
    Instant at;
    friend bool operator==(const Saved&, const Saved&) = default;
  };
  // The node has the part, or is to get it.
  struct Assigned {
    friend bool operator==(const Assigned&, const Assigned&) = default;
  };
  // The part was given up, and is perhaps fenced. Later reports of its node about it are refused.
  struct Gone {
    Cause cause = Cause::runner_lost;
    Why why;
    Instant at;
    Instant fenced_until =
        {};  // when the lease of its ranks ends; ns = 0: no rank runs, or no fence is used
    bool revoked = false;  // the node was revoked
    friend bool operator==(const Gone&, const Gone&) = default;
  };
  // The part has finished, and its node may forget it.
  struct Released {
    // none: all logs are durable; 0: given up while the node was silent
    std::optional<Bytes> lost_logs;
    friend bool operator==(const Released&, const Released&) = default;
  };
  // The part asked for a lock of its environment.
  struct LockRequest {
    struct NotSolved {
      std::uint64_t generation = 0;
      Why why;
      friend bool operator==(const NotSolved&, const NotSolved&) = default;
    };
    std::string platform;
    Instant at;
    std::optional<NotSolved> not_solved;  // the last failure, if the part was told to solve
    friend bool operator==(const LockRequest&, const LockRequest&) = default;
  };
  NodeId node;
  Allotment allotment;
  bool whole = false;          // the part takes the whole node
  std::uint64_t revision = 0;  // the first revision of the node's desired state with the part
  std::variant<Assigned, Gone, Released> standing;
  std::optional<PartReport> report;  // the newest report; none: the node has not reported the part
  std::optional<Saved> saved;        // the newest checkpoint, in the blob store
  // Other outputs in the blob store that were sent before the part's end.
  std::vector<CollectedOutput> so_far;
  std::optional<LockRequest> lock_request;

  bool assigned() const { return std::holds_alternative<Assigned>(standing); }
  const Gone* gone() const { return std::get_if<Gone>(&standing); }  // null: it is not given up
  const Released* released() const { return std::get_if<Released>(&standing); }
  bool fenced() const { return gone() != nullptr && gone()->fenced_until.ns != 0; }
  bool finished() const { return report && report->state == PartState::finished; }
  bool ended() const { return finished() || gone() != nullptr; }
  // How its ranks ended; null: the part has not finished.
  const NodeExitReport* exit() const {
    return finished() && report->exit ? &*report->exit : nullptr;
  }
  bool asks_for(const std::string& platform) const {
    return lock_request && lock_request->platform == platform;
  }
  bool failed() const;  // whether the part ended and some rank did not exit 0
  bool at_least(PartState state) const { return report && report->state >= state; }
  friend bool operator==(const Part&, const Part&) = default;
};

struct Attempt {
  // Counts of `parts`, so that a step of a big gang need not visit every part.
  struct Tally {
    int prepared = 0;  // parts in the state prepared or a later one
    int running = 0;   // parts in the state running or a later one
    int over = 0;      // parts whose ranks have ended: collecting or a later state, or gone
    int ended = 0;
    int failed = 0;
    int assigned = 0;
    int asked = 0;  // parts that ever asked for a lock
    friend bool operator==(const Tally&, const Tally&) = default;
  };
  struct Doom {
    ExitReport report;
    StopReason reason = StopReason::gang_failed;
    // The grace time of its ranks; none: CoreConfig::stop_grace.
    std::optional<Duration> grace = {};
    friend bool operator==(const Doom&, const Doom&) = default;
  };
  AttemptId id;
  Instant placed;
  std::vector<Why> why;                        // why it was placed there
  std::optional<CheckpointSource> checkpoint;  // the checkpoint from which its ranks start
  // virtual packages of its nodes, for a conda definition
  std::vector<std::string> virtual_packages;
  std::vector<Part> parts;  // index = node rank
  Tally tally;
  SharedGang gang;
  std::optional<Digest> rows;  // the digest in GangFormed
  std::optional<Doom> doomed;
  std::optional<ExitReport> ended;
  Instant ended_at;
  Why retried;  // RetriedAfter, if another attempt followed; Told in journals of earlier versions
  FoundList found;  // findings about its ranks in the last fact; empty if the attempt completed

  bool solo() const { return parts.size() == 1; }
  int size() const { return static_cast<int>(parts.size()); }
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// Identifies an environment: its definition and the jobs that share it. The result of solving a
// definition also depends on the configuration of the account that solves it (pip.conf, .condarc),
// so no account uses another account's locks. Root of a node has the credentials of the attempts
// there, so jobs that an attempt submits have locks of their own, by family, and never decide what
// the jobs of people install.
struct EnvironmentId {
  Digest definition;
  std::string account;       // the account as which its jobs run: JobSpec::run_as
  std::uint64_t family = 0;  // the family of its jobs: Job::family
  friend auto operator<=>(const EnvironmentId&, const EnvironmentId&) = default;
};

// A job that is queued, or that was canceled while queued and still has outstanding logs of an
// earlier attempt. Defined outside Job, because Job needs its default values.
struct WaitingJob {
  std::vector<After> waits_for;  // the jobs in spec.queue.after that have not ended as required
  Instant not_before;    // the earliest time at which the job is placed; ns = 0: at any time
  bool at_head = false;  // the job became the first of its queue
  // The time at which it became the first; later if it first waited for its own user's jobs. A
  // change of its priority does not change it.
  Instant head_since;
  friend bool operator==(const WaitingJob&, const WaitingJob&) = default;
};

struct Job {
  using Waiting = WaitingJob;
  struct Placed {  // the last attempt has not ended
    friend bool operator==(const Placed&, const Placed&) = default;
  };
  struct RunsSteps {  // a pipeline, until all its steps are over
    friend bool operator==(const RunsSteps&, const RunsSteps&) = default;
  };
  struct Ending {  // the last attempt has ended; the job is requeued or finished next
    friend bool operator==(const Ending&, const Ending&) = default;
  };
  struct Finish {  // the job is final
    JobStatus status = JobStatus::completed;
    ExitReport report;
    Instant at;
    friend bool operator==(const Finish&, const Finish&) = default;
  };
  JobId id;
  std::uint64_t order = 0;        // the number of its submission: 1, 2, …
  std::uint64_t incarnation = 0;  // the least incarnation of its attempts
  std::string submission;
  JobSpec spec;      // the spec, with its name set
  std::string pool;  // the pool of its target, whose nodes its parts get
  // A checkpoint of another job, with which attempts start until one has saved a checkpoint.
  std::optional<CheckpointSource> first_checkpoint;
  std::optional<EnvironmentId> environment;
  Instant submitted;
  std::variant<Waiting, Placed, RunsSteps, Ending, Finish> phase;
  std::optional<Why> cancel_by;
  bool shared = false;             // the owner lets the members of the project read the job
  std::vector<JobSource> sources;  // see JobSubmitted
  bool archived = false;  // lists leave it out; for a step, its pipeline's flag counts (metadata.h)
  std::vector<Attempt> attempts;  // with the numbers 1, 2, …
  int charged_retries = 0;
  int uncharged_retries = 0;
  EventList events;
  std::optional<Steps> steps;  // only for a pipeline
  // The named outputs, merged over all nodes; for a pipeline, the outputs that its file names.
  std::optional<std::vector<MergedOutput>> merged;
  std::vector<OutputWrite> writes;  // the outputs of `merged` whose path is in a remote datastore
  int unwritten = 0;  // the `writes` that still wait; for a pipeline also its steps' writes
  std::optional<Digest> reuse_key;  // only for the job of a pipeline's step; see step_key.h
  // The family of the job. 0: a person submitted the job or its pipeline. Otherwise the order of
  // the topmost job whose attempt submitted it, directly or through other jobs; if that is a step,
  // the order of its pipeline. It does not change when that job is deleted. Steps are reused only
  // within a family.
  std::uint64_t family = 0;
  // The job whose attempt submitted this one; for a step, the one whose attempt submitted its
  // pipeline. "": there is none, or it was deleted. Unlike spec.parent, it never names a later job
  // of the same name.
  JobId child_of;

  bool is_waiting() const { return std::holds_alternative<Waiting>(phase); }
  bool is_queued() const { return is_waiting() && !cancel_by; }
  bool is_placed() const { return std::holds_alternative<Placed>(phase); }
  bool runs_steps() const { return std::holds_alternative<RunsSteps>(phase); }
  bool is_ending() const { return std::holds_alternative<Ending>(phase); }
  bool is_final() const { return std::holds_alternative<Finish>(phase); }
  // null: the job is not final
  const Finish* finish() const { return std::get_if<Finish>(&phase); }
  // The job's waiting; for a job that does not wait, an empty one: it waits for nothing, and is not
  // the first of its queue.
  const Waiting& waiting() const;
  const Why& requeued_because() const;  // Attempt::retried of the last requeue
  const Attempt* last_attempt() const { return attempts.empty() ? nullptr : &attempts.back(); }
  // True if no part of any attempt has outstanding logs on a node.
  bool logs_settled() const;
  // True if a part of its last attempt ever asked for a lock. When that part ends, another part may
  // have to solve.
  bool has_asked() const;
  JobStatus status() const;
  friend bool operator==(const Job&, const Job&) = default;
};

JobSize size_of(const Part& part);
JobSize size_of(const Job& job);

}  // namespace lockstep::launcher
