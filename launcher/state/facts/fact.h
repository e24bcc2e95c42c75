#pragma once
// The facts of the launcher, which the journal keeps; the launcher's state is their fold. Facts
// record results, not requests, and no field ever changes its meaning. Every state change, live or
// in recovery, is one State::apply(fact). Each fact is stamped with the Instant of the input that
// caused it.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/domain/messages/assignment.h"
#include "common/domain/messages/views.h"
#include "common/domain/why/why.h"
#include "launcher/state/facts/node_facts.h"
#include "launcher/state/people/assets.h"
#include "launcher/state/people/fair_share.h"
#include "launcher/state/people/principals.h"
#include "launcher/state/people/usage.h"
#include "launcher/state/targets/computes.h"
#include "launcher/state/targets/defined_sizes.h"
#include "launcher/state/targets/machines.h"

namespace lockstep::launcher {

// Attempts placed from now on have an incarnation of at least this.
struct IncarnationBegan {
  std::uint64_t incarnation = 0;
  // The journal was restored from a backup: later facts are lost, but nodes may have seen their
  // effects.
  bool restored = false;
  friend bool operator==(const IncarnationBegan&, const IncarnationBegan&) = default;
};

struct JobSubmitted {
  JobId job;
  std::string submission;
  JobSpec spec;
  std::uint64_t order = 0;                          // 0: after all others
  std::uint64_t incarnation = 0;                    // of its attempts, at least
  std::optional<CheckpointSource> checkpoint = {};  // of spec.from_checkpoint_of, as it is now
  std::uint64_t family = 0;             // see Job; 0 also in journals of before families
  std::vector<JobSource> sources = {};  // each tree once; none in earlier journals, and of steps
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};
struct JobShared {  // sharing with the members of its project starts or ends
  JobId job;
  bool shared = false;
  std::string by;
  friend bool operator==(const JobShared&, const JobShared&) = default;
};
struct JobArchived {  // lists leave it out, with the jobs of its steps; or no longer
  JobId job;
  bool archived = false;
  std::string by;
  friend bool operator==(const JobArchived&, const JobArchived&) = default;
};
struct JobAnnotated {  // all of its texts from now on
  JobId job;
  std::string display_name, description, experiment_name;
  std::map<std::string, std::string> tags;
  std::string by;
  friend bool operator==(const JobAnnotated&, const JobAnnotated&) = default;
};
struct JobPriorityChanged {  // of a job that waits
  JobId job;
  Priority priority = Priority::medium;
  std::string by;
  friend bool operator==(const JobPriorityChanged&, const JobPriorityChanged&) = default;
};
// A job that it was to run after has ended as asked.
struct DependencyMet {
  JobId job;
  JobId after;
  friend bool operator==(const DependencyMet&, const DependencyMet&) = default;
};
// The job is the first of its queue, and has to wait for busy nodes. It keeps its place before all
// other jobs of its priority until it is placed. Again: it waited for jobs of its own user, and
// waits for those of others now.
struct JobAtHead {
  JobId job;
  friend bool operator==(const JobAtHead&, const JobAtHead&) = default;
};
// Sets a user's recent use of a pool. Compaction writes this fact in place of the attempts that it
// dropped.
struct RecentUseSet {
  std::string pool, user;
  Amounts recent;
  Instant until;  // the use before this time
  friend bool operator==(const RecentUseSet&, const RecentUseSet&) = default;
};
struct CancelRequested {
  JobId job;
  Why by;
  friend bool operator==(const CancelRequested&, const CancelRequested&) = default;
};
struct PartPlacement {
  NodeId node;
  Allotment allotment;
  std::uint64_t revision = 0;  // first revision of the node's desired state with it; 0: the next
  // The part takes the whole node. Absent in journals of up to 0.5: see old_facts.h.
  std::optional<bool> whole = {};
  friend bool operator==(const PartPlacement&, const PartPlacement&) = default;
};
struct AttemptPlaced {  // index in parts = node rank
  AttemptId attempt;
  std::vector<PartPlacement> parts;
  std::vector<Why> why;
  std::optional<CheckpointSource> checkpoint = {};  // from which its ranks start
  // For a conda definition: the virtual packages that all these nodes had then (EnvironmentPlan).
  std::vector<std::string> virtual_packages = {};
  friend bool operator==(const AttemptPlaced&, const AttemptPlaced&) = default;
};
struct GangFormed {  // all parts prepared: run
  AttemptId attempt;
  GangTable gang;
  // The table's digest_of(), if it goes down the gang's tree. Absent: a runner of the gang does not
  // know that, so each node is given the whole table.
  std::optional<Digest> rows = {};
  friend bool operator==(const GangFormed&, const GangFormed&) = default;
};
struct PartChanged {  // the part's state moved forward
  AttemptId attempt;
  NodeId node;
  PartReport report;
  friend bool operator==(const PartChanged&, const PartChanged&) = default;
};
struct PartGone {
  AttemptId attempt;
  NodeId node;
  Cause cause = Cause::runner_lost;
  Why why;
  Instant fenced_until = {};  // its ranks may run until then, by their lease; ns = 0: no fence
  bool revoked = false;       // its node was revoked: the retry is not charged
  friend bool operator==(const PartGone&, const PartGone&) = default;
};
struct AttemptDoomed {  // the first failure is known: the other parts must be stopped
  AttemptId attempt;
  ExitReport report;
  StopReason reason = StopReason::gang_failed;
  std::optional<Duration> grace = {};  // for its ranks; none: CoreConfig::stop_grace
  friend bool operator==(const AttemptDoomed&, const AttemptDoomed&) = default;
};
struct AttemptEnded {  // all its parts have ended
  AttemptId attempt;
  ExitReport report;
  friend bool operator==(const AttemptEnded&, const AttemptEnded&) = default;
};
struct JobRequeued {
  JobId job;
  AttemptId after;
  bool charged = true;
  Why why;  // without how the attempt ended; in old journals with it: see old_facts.h
  Instant not_before = {};  // back-off; ns = 0: none
  friend bool operator==(const JobRequeued&, const JobRequeued&) = default;
};
struct PartReleased {  // its logs are durable (or lost): the node may forget it
  AttemptId attempt;
  NodeId node;
  bool logs_lost = false;        // given up: some of its logs did not arrive
  std::uint64_t lost_bytes = 0;  // log bytes for which the launcher had no space
  friend bool operator==(const PartReleased&, const PartReleased&) = default;
};
struct JobFinished {
  JobId job;
  JobStatus status = JobStatus::completed;
  ExitReport report;
  friend bool operator==(const JobFinished&, const JobFinished&) = default;
};

// A job's named outputs are trees in the blob store. Its end follows.
struct OutputsMerged {
  JobId job;
  std::vector<MergedOutput> outputs;
  friend bool operator==(const OutputsMerged&, const OutputsMerged&) = default;
};
// A step of the pipeline needs no job: that of another pipeline had the same content.
struct StepReused {
  JobId job;  // the pipeline
  std::string step;
  JobId from;
  std::vector<MergedOutput> outputs;
  friend bool operator==(const StepReused&, const StepReused&) = default;
};
// A step of the pipeline will not be run.
struct StepSkipped {
  JobId job;  // the pipeline
  std::string step;
  Why why;
  friend bool operator==(const StepSkipped&, const StepSkipped&) = default;
};

// The launcher has written the output to the remote that its path names.
struct OutputWritten {
  JobId job;
  std::string output;
  friend bool operator==(const OutputWritten&, const OutputWritten&) = default;
};
// It could not be written.
struct OutputNotWritten {
  JobId job;
  std::string output;
  std::uint32_t tries = 0;  // that failed, with this one
  Why why;
  Instant again = {};  // it is tried again then; ns = 0: never, it is given up
  friend bool operator==(const OutputNotWritten&, const OutputNotWritten&) = default;
};

struct JobDeleted {  // a final job, with its logs and the blobs that only it refers to
  JobId job;
  std::string by;                 // a user's name; empty: deleted by a limit (Retention)
  std::string submission;         // its submission key, which is not accepted again
  std::uint64_t incarnation = 0;  // the least one for the next job with this name
  friend bool operator==(const JobDeleted&, const JobDeleted&) = default;
};
struct CheckpointSaved {  // by a running part; its blobs are in the blob store
  AttemptId attempt;
  NodeId node;
  CollectedOutput checkpoint;
  friend bool operator==(const CheckpointSaved&, const CheckpointSaved&) = default;
};
// What a running part has sent until now, without its checkpoint. Kept for the case that its node
// is lost; the end of the part replaces it.
struct OutputsSoFar {
  AttemptId attempt;
  NodeId node;
  std::vector<CollectedOutput> outputs;
  friend bool operator==(const OutputsSoFar&, const OutputsSoFar&) = default;
};
// What the gang found out about its ranks says something else now: other kinds, verdicts or ranks.
// The numbers in it are of this moment.
struct FoundChanged {
  AttemptId attempt;
  NodeId node;      // of node rank 0, which compared them
  FoundList found;  // all that holds
  friend bool operator==(const FoundChanged&, const FoundChanged&) = default;
};
struct FenceLifted {  // proof that a part that was given up has stopped
  AttemptId attempt;
  NodeId node;
  Why why;
  friend bool operator==(const FenceLifted&, const FenceLifted&) = default;
};

// Registers an environment's name and version. They never refer to another definition later.
struct EnvironmentRegistered {
  RegisteredEnvironment environment;
  std::string by;
  std::string project = {};         // of the name, set by its first version; "": the default one
  std::string owner = {};           // of the name; "": of before names had owners
  bool foreign = false;             // from then, and by somebody whom its owner had not let
  std::optional<Bytes> files = {};  // of its build folder; see AssetRegistered
  friend bool operator==(const EnvironmentRegistered&, const EnvironmentRegistered&) = default;
};
// Sets the archived flag of a version. Compaction writes this fact anew, in place of all that it
// dropped.
struct EnvironmentArchived {
  std::string name;
  std::string version;  // "": all versions that the name has now
  bool archived = true;
  friend bool operator==(const EnvironmentArchived&, const EnvironmentArchived&) = default;
};
// The node asked for a lock, because its plan had none for its platform.
struct EnvironmentWanted {
  AttemptId attempt;
  NodeId node;
  std::string platform;
  friend bool operator==(const EnvironmentWanted&, const EnvironmentWanted&) = default;
};
// The node was told to solve and failed, for a reason that may not apply to other nodes.
struct EnvironmentNotSolved {
  AttemptId attempt;
  NodeId node;
  std::uint64_t generation = 0;
  std::string platform;
  Why why;  // as its node says, bounded by kMaxNotSolvedBytes
  friend bool operator==(const EnvironmentNotSolved&, const EnvironmentNotSolved&) = default;
};
// The definition is solved for the jobs of one account that have it, or for those of one family of
// the account. The lock is in the blob store.
struct EnvironmentLocked {
  Digest definition;
  std::uint64_t generation = 0;
  EnvironmentLock lock;
  AttemptId attempt;  // for which it was solved
  NodeId node;        // that solved it
  // That these jobs run as. nullopt: a fact of an earlier version, whose locks were everybody's.
  std::optional<std::string> account = {};
  // Job::family of these jobs. nullopt: a fact of an earlier version, whose families had the
  // account's locks.
  std::optional<std::uint64_t> family = {};
  friend bool operator==(const EnvironmentLocked&, const EnvironmentLocked&) = default;
};
// A user asked for a rebuild, or a node that had solved was revoked: the account's or the family's
// locks of earlier generations are no longer used.
struct EnvironmentReset {
  Digest definition;
  std::uint64_t generation = 0;
  std::string by;
  std::optional<std::string> account = {};  // nullopt: a fact of an earlier version, for all
  std::uint64_t family = 0;
  friend bool operator==(const EnvironmentReset&, const EnvironmentReset&) = default;
};
// Nodes must delete the environments that they have not used since `unused_since`.
struct EnvironmentsPruned {
  Instant unused_since;
  std::string by;
  friend bool operator==(const EnvironmentsPruned&, const EnvironmentsPruned&) = default;
};

using Fact = std::variant<
    TokenCreated, NodeJoined, NodeSessionStarted, NodeLost, NodeDrainChanged, JobSubmitted,
    CancelRequested, AttemptPlaced, GangFormed, PartChanged, PartGone, AttemptDoomed, AttemptEnded,
    JobRequeued, PartReleased, JobFinished, NodeRemoved, TokenForgotten, NodeRevised,
    IncarnationBegan, JobDeleted, CheckpointSaved, FenceLifted, EnvironmentRegistered,
    EnvironmentWanted, EnvironmentLocked, EnvironmentReset, EnvironmentsPruned,
    EnvironmentNotSolved, ProjectCreated, ProjectRemoved, UserAdded, UserAccountSet, UserRemoved,
    RoleGranted, RoleWithdrawn, UserKeyAdded, UserKeyRevoked, QuotaSet, NodeApproved, JobShared,
    ComputeCreated, ComputeUpdated, ComputeDeleted, ComputeLeaving, MachineWanted, MachineCreated,
    MachineFailed, MachineLeaving, MachineGone, MachineFound, SizeDefined, SizeRemoved, SizeGranted,
    NodeLabelsChanged, JobPriorityChanged, DependencyMet, JobAtHead, RecentUseSet, NodeNoticed,
    InstanceStarted, InstanceStopped, AssetRegistered, AssetArchived, OutputsMerged, StepReused,
    StepSkipped, JobArchived, JobAnnotated, OutputWritten, OutputNotWritten, OutputsSoFar,
    NameShared, VersionsDeleted, NameSettled, EnvironmentArchived, VersionAnnotated, FoundChanged>;

// The job that a fact is about; null when it is about a node, a token or the launcher.
const JobId* job_of(const Fact& fact);

// False: a node stopped its ranks, and the report on the failure that it stopped them for may still
// be on its way.
bool is_explained(const ExitReport& report);

struct StampedFact {
  Instant at;
  Fact fact;
  friend bool operator==(const StampedFact&, const StampedFact&) = default;
};

}  // namespace lockstep::launcher
