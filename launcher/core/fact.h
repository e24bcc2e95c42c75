#pragma once
// What happened, for ever: the launcher's state is the fold of its facts. Facts record results, not
// requests; no field ever changes its meaning. Every state change, live or in recovery, is one
// State::apply(fact). Each fact is stamped with the Instant of the input that caused it.

#include <string>
#include <variant>
#include <vector>

#include "common/domain/assignment.h"
#include "common/domain/views.h"
#include "launcher/core/computes.h"
#include "launcher/core/principals.h"

namespace lockstep::launcher {

struct TokenCreated {
  Digest secret_hash;
  Instant expires;
  int uses = 1;
  Approval approval = Approval::as_configured;
  std::string pool = {};  // of the nodes that join with it; "": local
  friend bool operator==(const TokenCreated&, const TokenCreated&) = default;
};
struct NodeJoined {
  NodeId node;
  std::string name;
  PublicKey key;
  Digest token;
  bool waits_for_approval = false;
  std::string pool = {};  // for ever; "": local
  friend bool operator==(const NodeJoined&, const NodeJoined&) = default;
};
struct NodeApproved {  // from now on it gets work
  NodeId node;
  std::string by;
  friend bool operator==(const NodeApproved&, const NodeApproved&) = default;
};
struct NodeSessionStarted {  // a session was accepted
  NodeId node;
  BootId boot;
  SessionId session;
  Inventory inventory;
  friend bool operator==(const NodeSessionStarted&, const NodeSessionStarted&) = default;
};
struct NodeLost {  // timeout, or proof of a reboot
  NodeId node;
  std::string reason;
  friend bool operator==(const NodeLost&, const NodeLost&) = default;
};
struct NodeDrainChanged {
  NodeId node;
  bool draining = false;
  std::string reason;
  friend bool operator==(const NodeDrainChanged&, const NodeDrainChanged&) = default;
};
struct NodeRemoved {  // for good: it held no part; its key is revoked
  NodeId node;
  std::string by;
  friend bool operator==(const NodeRemoved&, const NodeRemoved&) = default;
};

struct TokenForgotten {  // it is of no use any more
  Digest secret_hash;
  friend bool operator==(const TokenForgotten&, const TokenForgotten&) = default;
};
// The node's desired state has this revision. Compaction writes it in place of what it dropped.
struct NodeRevised {
  NodeId node;
  std::uint64_t revision = 0;
  friend bool operator==(const NodeRevised&, const NodeRevised&) = default;
};
// Attempts placed from now on have an incarnation of at least this.
struct IncarnationBegan {
  std::uint64_t incarnation = 0;
  // The journal was restored from a backup: later facts are lost, although nodes may have acted on
  // them.
  bool restored = false;
  friend bool operator==(const IncarnationBegan&, const IncarnationBegan&) = default;
};

struct JobSubmitted {
  JobId job;
  std::string submission;
  JobSpec spec;
  std::uint64_t order = 0;                          // 0: behind all others
  std::uint64_t incarnation = 0;                    // of its attempts, at least
  std::optional<CheckpointSource> checkpoint = {};  // of spec.from_checkpoint_of, as it is now
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};
struct JobShared {  // with the members of its project, or with them no more
  JobId job;
  bool shared = false;
  std::string by;
  friend bool operator==(const JobShared&, const JobShared&) = default;
};
struct CancelRequested {
  JobId job;
  std::string by;
  friend bool operator==(const CancelRequested&, const CancelRequested&) = default;
};
struct PartPlacement {
  NodeId node;
  Allotment allotment;
  std::uint64_t revision = 0;  // of the node's desired state that first holds it; 0: the next
  // The part takes the whole node. Absent in journals of up to 0.5: see old_facts.h.
  std::optional<bool> whole = {};
  friend bool operator==(const PartPlacement&, const PartPlacement&) = default;
};
struct AttemptPlaced {  // index in parts = node rank
  AttemptId attempt;
  std::vector<PartPlacement> parts;
  std::vector<std::string> why;
  std::optional<CheckpointSource> checkpoint = {};  // what its ranks begin with
  // For conda definitions: the virtual packages of these nodes at that time; see EnvironmentPlan.
  std::vector<std::string> virtual_packages = {};
  friend bool operator==(const AttemptPlaced&, const AttemptPlaced&) = default;
};
struct GangFormed {  // all parts prepared: run
  AttemptId attempt;
  GangTable gang;
  friend bool operator==(const GangFormed&, const GangFormed&) = default;
};
struct PartChanged {  // state moved forward
  AttemptId attempt;
  NodeId node;
  PartReport report;
  friend bool operator==(const PartChanged&, const PartChanged&) = default;
};
struct PartGone {
  AttemptId attempt;
  NodeId node;
  Cause cause = Cause::runner_lost;
  std::string why;
  Instant fenced_until = {};  // until then its ranks may run, by their lease; ns = 0: nobody waits
  bool revoked = false;       // its node was revoked: another attempt costs the job nothing
  friend bool operator==(const PartGone&, const PartGone&) = default;
};
struct AttemptDoomed {  // the first failure is known: the others are to be stopped
  AttemptId attempt;
  ExitReport report;
  StopReason reason = StopReason::gang_failed;
  friend bool operator==(const AttemptDoomed&, const AttemptDoomed&) = default;
};
struct AttemptEnded {  // nothing of it runs any more
  AttemptId attempt;
  ExitReport report;
  friend bool operator==(const AttemptEnded&, const AttemptEnded&) = default;
};
struct JobRequeued {
  JobId job;
  AttemptId after;
  bool charged = true;
  std::string why;
  Instant not_before = {};  // back-off; ns = 0: none
  friend bool operator==(const JobRequeued&, const JobRequeued&) = default;
};
struct PartReleased {  // logs durable (or lost): node may forget it
  AttemptId attempt;
  NodeId node;
  bool logs_lost = false;        // given up: not all that its ranks wrote came
  std::uint64_t lost_bytes = 0;  // so much of them, where the launcher had no space for them
  friend bool operator==(const PartReleased&, const PartReleased&) = default;
};
struct JobFinished {
  JobId job;
  JobStatus status = JobStatus::completed;
  ExitReport report;
  friend bool operator==(const JobFinished&, const JobFinished&) = default;
};

struct JobDeleted {  // it was final; its logs, and what it alone refers to, go as well
  JobId job;
  std::string by;                 // a user's name; empty: what is kept is limited (Retention)
  std::string submission;         // its own: that one is not submitted again
  std::uint64_t incarnation = 0;  // of the next job with this name, at least
  friend bool operator==(const JobDeleted&, const JobDeleted&) = default;
};
struct CheckpointSaved {  // by a part that runs; its blobs are here
  AttemptId attempt;
  NodeId node;
  CollectedOutput checkpoint;
  friend bool operator==(const CheckpointSaved&, const CheckpointSaved&) = default;
};
struct FenceLifted {  // nothing of a part that was given up runs any more: proven
  AttemptId attempt;
  NodeId node;
  std::string why;
  friend bool operator==(const FenceLifted&, const FenceLifted&) = default;
};

// An environment has a name and a version; neither ever means another definition.
struct EnvironmentRegistered {
  RegisteredEnvironment environment;
  std::string by;
  std::string project = {};  // of the name, in its first version; "": the default one
  friend bool operator==(const EnvironmentRegistered&, const EnvironmentRegistered&) = default;
};
// The node found no lock for its platform in what it was told.
struct EnvironmentWanted {
  AttemptId attempt;
  NodeId node;
  std::string platform;
  friend bool operator==(const EnvironmentWanted&, const EnvironmentWanted&) = default;
};
// It was told to solve and could not, for a reason that may be its own.
struct EnvironmentNotSolved {
  AttemptId attempt;
  NodeId node;
  std::uint64_t generation = 0;
  std::string platform;
  std::string why;  // bounded by kMaxNotSolvedBytes
  friend bool operator==(const EnvironmentNotSolved&, const EnvironmentNotSolved&) = default;
};
// Solved, for all jobs that have this definition. The lock is in the blob store.
struct EnvironmentLocked {
  Digest definition;
  std::uint64_t generation = 0;
  EnvironmentLock lock;
  AttemptId attempt;  // for which
  NodeId node;        // by which
  friend bool operator==(const EnvironmentLocked&, const EnvironmentLocked&) = default;
};
// Somebody asked for a rebuild: locks of earlier generations are of no use.
struct EnvironmentReset {
  Digest definition;
  std::uint64_t generation = 0;
  std::string by;
  friend bool operator==(const EnvironmentReset&, const EnvironmentReset&) = default;
};
// Nodes remove environments that they have not used since then.
struct EnvironmentsPruned {
  Instant unused_since;
  std::string by;
  friend bool operator==(const EnvironmentsPruned&, const EnvironmentsPruned&) = default;
};

using Fact =
    std::variant<TokenCreated, NodeJoined, NodeSessionStarted, NodeLost, NodeDrainChanged,
                 JobSubmitted, CancelRequested, AttemptPlaced, GangFormed, PartChanged, PartGone,
                 AttemptDoomed, AttemptEnded, JobRequeued, PartReleased, JobFinished, NodeRemoved,
                 TokenForgotten, NodeRevised, IncarnationBegan, JobDeleted, CheckpointSaved,
                 FenceLifted, EnvironmentRegistered, EnvironmentWanted, EnvironmentLocked,
                 EnvironmentReset, EnvironmentsPruned, EnvironmentNotSolved, ProjectCreated,
                 ProjectRemoved, UserAdded, UserAccountSet, UserRemoved, RoleGranted, RoleWithdrawn,
                 UserKeyAdded, UserKeyRevoked, QuotaSet, NodeApproved, JobShared, ComputeCreated,
                 ComputeUpdated, ComputeDeleted>;

// The job that a fact is about; null when it is about a node, a token or the launcher.
const JobId* job_of(const Fact& fact);

// The verdict on a node whose ranks were stopped before the launcher knows why: the failure of
// another node may still be on its way.
inline constexpr std::string_view kUnexplained = "stopped its ranks although nobody asked for it";
inline bool is_explained(const ExitReport& report) {
  return !report.message.ends_with(kUnexplained);
}

struct StampedFact {
  Instant at;
  Fact fact;
  friend bool operator==(const StampedFact&, const StampedFact&) = default;
};

}  // namespace lockstep::launcher
