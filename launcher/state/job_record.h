#pragma once
// One job of the state, its attempts and their parts.

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

// One attempt's share on one node.
struct Part {
  struct Saved {
    CollectedOutput checkpoint;
    Instant at;
    friend bool operator==(const Saved&, const Saved&) = default;
  };
  // Its node has it, or is to get it.
  struct Assigned {
    friend bool operator==(const Assigned&, const Assigned&) = default;
  };
  // It was given up, and perhaps is fenced: what its node says of it is refused from now on.
  struct Gone {
    Cause cause = Cause::runner_lost;
    Why why;
    Instant at;
    Instant fenced_until =
        {};                // its ranks may run until then; ns = 0: they do not, or no fence is used
    bool revoked = false;  // its node was
    friend bool operator==(const Gone&, const Gone&) = default;
  };
  // It has finished, and the node may forget it.
  struct Released {
    std::optional<Bytes> lost_logs;  // none: all are durable; 0: given up while the node was silent
    friend bool operator==(const Released&, const Released&) = default;
  };
  // It asked for a lock of its environment.
  struct LockRequest {
    struct NotSolved {
      std::uint64_t generation = 0;
      Why why;
      friend bool operator==(const NotSolved&, const NotSolved&) = default;
    };
    std::string platform;
    Instant at;
    std::optional<NotSolved> not_solved;  // its last failure to solve when it was told to
    friend bool operator==(const LockRequest&, const LockRequest&) = default;
  };
  NodeId node;
  Allotment allotment;
  bool whole = false;          // it takes the whole node
  std::uint64_t revision = 0;  // first revision of the node's desired state with it
  std::variant<Assigned, Gone, Released> standing;
  std::optional<PartReport> report;     // the newest; none: the node has not reported it
  std::optional<Saved> saved;           // its newest checkpoint, in the blob store
  std::vector<CollectedOutput> so_far;  // other outputs in the blob store, sent before its end
  std::optional<LockRequest> lock_request;

  bool assigned() const { return std::holds_alternative<Assigned>(standing); }
  const Gone* gone() const { return std::get_if<Gone>(&standing); }  // null: it is not
  const Released* released() const { return std::get_if<Released>(&standing); }
  bool fenced() const { return gone() != nullptr && gone()->fenced_until.ns != 0; }
  bool finished() const { return report && report->state == PartState::finished; }
  bool ended() const { return finished() || gone() != nullptr; }
  // How its ranks ended; null: it has not finished.
  const NodeExitReport* exit() const {
    return finished() && report->exit ? &*report->exit : nullptr;
  }
  bool asks_for(const std::string& platform) const {
    return lock_request && lock_request->platform == platform;
  }
  bool failed() const;  // ended, and not because every rank exited 0
  bool at_least(PartState state) const { return report && report->state >= state; }
  friend bool operator==(const Part&, const Part&) = default;
};

struct Attempt {
  // Counts over `parts`, so that a step of a big gang need not visit every part.
  struct Tally {
    int prepared = 0;  // at_least(prepared)
    int running = 0;   // at_least(running)
    int over = 0;      // its ranks have ended: at_least(collecting), or gone
    int ended = 0;
    int failed = 0;
    int assigned = 0;
    int asked = 0;  // that ever asked for a lock
    friend bool operator==(const Tally&, const Tally&) = default;
  };
  struct Doom {
    ExitReport report;
    StopReason reason = StopReason::gang_failed;
    std::optional<Duration> grace = {};  // for its ranks; none: CoreConfig::stop_grace
    friend bool operator==(const Doom&, const Doom&) = default;
  };
  AttemptId id;
  Instant placed;
  std::vector<Why> why;                        // it was placed there
  std::optional<CheckpointSource> checkpoint;  // from which its ranks start
  std::vector<std::string> virtual_packages;   // of its nodes, for a conda definition
  std::vector<Part> parts;                     // index = node rank
  Tally tally;
  SharedGang gang;
  std::optional<Digest> rows;  // as in GangFormed
  std::optional<Doom> doomed;
  std::optional<ExitReport> ended;
  Instant ended_at;
  Why retried;      // RetriedAfter, if another attempt follows; Told of an old one
  FoundList found;  // about its ranks, by the last fact; empty of one that completed

  bool solo() const { return parts.size() == 1; }
  int size() const { return static_cast<int>(parts.size()); }
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// Whose environment it is. What solving a definition gives also depends on the configuration of the
// account that solves it (pip.conf, .condarc), so no account uses another's locks. Root of a node
// has the credentials of the attempts there, so a job that an attempt submitted never decides what
// the jobs of people install: its family has locks of its own.
struct EnvironmentId {
  Digest definition;
  std::string account;       // that its jobs run as: JobSpec::run_as
  std::uint64_t family = 0;  // of its jobs: Job::family
  friend auto operator<=>(const EnvironmentId&, const EnvironmentId&) = default;
};

// A job that is queued, or was canceled while it was, and logs of an earlier attempt are
// outstanding. Not within Job: there its default values would not be known yet where Job needs
// them.
struct WaitingJob {
  std::vector<After> waits_for;  // of spec.queue.after, those that have not ended as asked
  Instant not_before;            // it is placed at this time or later; ns = 0: at any time
  bool at_head = false;          // it became the first of its queue
  Instant head_since;  // then; later, if it first waited for its own user's jobs; a change of its
                       // priority leaves it
  friend bool operator==(const WaitingJob&, const WaitingJob&) = default;
};

struct Job {
  using Waiting = WaitingJob;
  struct Placed {  // its last attempt has not ended
    friend bool operator==(const Placed&, const Placed&) = default;
  };
  struct RunsSteps {  // of a pipeline, until all its steps are over
    friend bool operator==(const RunsSteps&, const RunsSteps&) = default;
  };
  struct Ending {  // its last attempt has ended; requeued or finished next
    friend bool operator==(const Ending&, const Ending&) = default;
  };
  struct Finish {  // final
    JobStatus status = JobStatus::completed;
    ExitReport report;
    Instant at;
    friend bool operator==(const Finish&, const Finish&) = default;
  };
  JobId id;
  std::uint64_t order = 0;        // of submission; 1, 2, …
  std::uint64_t incarnation = 0;  // the least one for its attempts
  std::string submission;
  JobSpec spec;      // name filled
  std::string pool;  // of its target: its parts get nodes of this pool
  // A checkpoint of another job, with which attempts start until one has saved its own.
  std::optional<CheckpointSource> first_checkpoint;
  std::optional<EnvironmentId> environment;
  Instant submitted;
  std::variant<Waiting, Placed, RunsSteps, Ending, Finish> phase;
  std::optional<Why> cancel_by;
  bool shared = false;             // its owner lets the members of its project read it
  std::vector<JobSource> sources;  // see JobSubmitted
  bool archived = false;  // lists leave it out; of a step, its pipeline's counts: metadata.h
  std::vector<Attempt> attempts;  // numbers 1, 2, …
  int charged_retries = 0;
  int uncharged_retries = 0;
  EventList events;
  std::optional<Steps> steps;  // of a pipeline
  // The named outputs of all nodes; of a pipeline, those that its file names.
  std::optional<std::vector<MergedOutput>> merged;
  std::vector<OutputWrite> writes;  // of `merged`, those whose path is in a remote datastore
  int unwritten = 0;  // of `writes`, and of those of a pipeline's steps, those that wait
  std::optional<Digest> reuse_key;  // of a pipeline's step; see step_key.h
  // 0: a person submitted it, or its pipeline. Else attempts of one job did, or of jobs that this
  // one submitted, and so on: the order of that job, or of the pipeline whose step it is. It stays
  // when that job is deleted. Steps are reused only within a family.
  std::uint64_t family = 0;
  // The job whose attempt submitted it; of a step, the one whose attempt submitted its pipeline.
  // "": none, or deleted since. Unlike spec.parent, it is never a later job of the same name.
  JobId child_of;

  bool is_waiting() const { return std::holds_alternative<Waiting>(phase); }
  bool is_queued() const { return is_waiting() && !cancel_by; }
  bool is_placed() const { return std::holds_alternative<Placed>(phase); }
  bool runs_steps() const { return std::holds_alternative<RunsSteps>(phase); }
  bool is_ending() const { return std::holds_alternative<Ending>(phase); }
  bool is_final() const { return std::holds_alternative<Finish>(phase); }
  const Finish* finish() const { return std::get_if<Finish>(&phase); }  // null: it is not final
  // A job that does not wait has nothing to wait for, and is not at the head of its queue.
  const Waiting& waiting() const;
  const Why& requeued_because() const;  // Attempt::retried of the last requeue
  const Attempt* last_attempt() const { return attempts.empty() ? nullptr : &attempts.back(); }
  // True if no part of any attempt has outstanding logs on a node.
  bool logs_settled() const;
  // True if a part of its last attempt ever asked for a lock. If that part ends, others may solve.
  bool has_asked() const;
  JobStatus status() const;
  friend bool operator==(const Job&, const Job&) = default;
};

JobSize size_of(const Part& part);
JobSize size_of(const Job& job);

}  // namespace lockstep::launcher
