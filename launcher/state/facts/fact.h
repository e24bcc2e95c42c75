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

#include "common/base/table.h"
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
  static constexpr int kBody = 9;
  std::uint64_t incarnation = 0;
  // The journal was restored from a backup: later facts are lost, but nodes may have seen their
  // effects.
  bool restored = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "era", s.incarnation);
    see(field<2>, "restored", s.restored);
  }
  friend bool operator==(const IncarnationBegan&, const IncarnationBegan&) = default;
};

// More than a row of the journal can hold.
inline constexpr std::size_t kMostJobSources = 10'000'000;

struct JobSubmitted {
  static constexpr int kBody = 10;
  JobId job;
  std::string submission;
  JobSpec spec;
  std::uint64_t order = 0;                          // 0: after all others
  std::uint64_t incarnation = 0;                    // of its attempts, at least
  std::optional<CheckpointSource> checkpoint = {};  // of spec.from_checkpoint_of, as it is now
  std::uint64_t family = 0;             // see Job; 0 also in journals of before families
  std::vector<JobSource> sources = {};  // each tree once; none in earlier journals, and of steps
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "submission", s.submission);
    see(field<3>, "spec", s.spec);
    see(field<4>, "order", s.order);
    see(field<5>, "era", s.incarnation);
    see(field<6>, "checkpoint", s.checkpoint);
    see(field<56>, "family", s.family);
    see(field<79>, "sources", s.sources, {.count = kMostJobSources});
  }
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};
struct JobShared {  // sharing with the members of its project starts or ends
  static constexpr int kBody = 71;
  JobId job;
  bool shared = false;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "shared", s.shared);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const JobShared&, const JobShared&) = default;
};
struct JobArchived {  // lists leave it out, with the jobs of its steps; or no longer
  static constexpr int kBody = 116;
  JobId job;
  bool archived = false;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "archived", s.archived);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const JobArchived&, const JobArchived&) = default;
};
struct JobAnnotated {  // all of its texts from now on
  static constexpr int kBody = 117;
  JobId job;
  std::string display_name, description, experiment_name;
  std::map<std::string, std::string> tags;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "display_name", s.display_name);
    see(field<3>, "description", s.description, {.bytes = kMaxAnnotationBytes});
    see(field<4>, "experiment_name", s.experiment_name);
    see(field<5>, "tags", s.tags, {.count = 100 * kMaxJobTags});
    see(field<6>, "by", s.by);
  }
  friend bool operator==(const JobAnnotated&, const JobAnnotated&) = default;
};
struct JobPriorityChanged {  // of a job that waits
  static constexpr int kBody = 95;
  JobId job;
  Priority priority = Priority::medium;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "priority", s.priority);
    see(field<3>, "by", s.by);
  }
  friend bool operator==(const JobPriorityChanged&, const JobPriorityChanged&) = default;
};
// A job that it was to run after has ended as asked.
struct DependencyMet {
  static constexpr int kBody = 96;
  JobId job;
  JobId after;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "after", s.after);
  }
  friend bool operator==(const DependencyMet&, const DependencyMet&) = default;
};
// The job is the first of its queue, and has to wait for busy nodes. It keeps its place before all
// other jobs of its priority until it is placed. Again: it waited for jobs of its own user, and
// waits for those of others now.
struct JobAtHead {
  static constexpr int kBody = 97;
  JobId job;
  static void table(auto& s, auto&& see) { see(field<1>, "job", s.job); }
  friend bool operator==(const JobAtHead&, const JobAtHead&) = default;
};
// Sets a user's recent use of a pool. Compaction writes this fact in place of the attempts that it
// dropped.
struct RecentUseSet {
  static constexpr int kBody = 98;
  std::string pool, user;
  Amounts recent;
  Instant until;  // the use before this time
  static void table(auto& s, auto&& see) {
    see(field<1>, "pool", s.pool);
    see(field<2>, "user", s.user);
    see(field<3>, "cpus", s.recent.cpus);
    see(field<4>, "gpus", s.recent.gpus);
    see(field<5>, "memory", s.recent.memory);
    see(field<6>, "until", s.until);
  }
  friend bool operator==(const RecentUseSet&, const RecentUseSet&) = default;
};
struct CancelRequested {
  static constexpr int kBody = 11;
  JobId job;
  Why by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(reason_or_old_text<2, 800>, "by", s.by);
  }
  friend bool operator==(const CancelRequested&, const CancelRequested&) = default;
};
struct PartPlacement {
  NodeId node;
  Allotment allotment;
  std::uint64_t revision = 0;  // first revision of the node's desired state with it; 0: the next
  // The part takes the whole node. Absent in journals of up to 0.5: see old_facts.h.
  std::optional<bool> whole = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "node", s.node);
    see(field<2>, "allotment", s.allotment);
    see(field<3>, "revision", s.revision);
    see(field<4>, "whole", s.whole);
  }
  friend bool operator==(const PartPlacement&, const PartPlacement&) = default;
};
struct AttemptPlaced {  // index in parts = node rank
  static constexpr int kBody = 12;
  AttemptId attempt;
  std::vector<PartPlacement> parts;
  std::vector<Why> why;
  std::optional<CheckpointSource> checkpoint = {};  // from which its ranks start
  // For a conda definition: the virtual packages that all these nodes had then (EnvironmentPlan).
  std::vector<std::string> virtual_packages = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "parts", s.parts, {.count = kMaxNodesPerJob});
    see(reason_or_old_text<3, 810>, "why", s.why, {.count = 1'000'000});
    see(field<4>, "checkpoint", s.checkpoint);
    see(field<5>, "virtual_packages", s.virtual_packages, {.count = kMaxVirtualPackages});
  }
  friend bool operator==(const AttemptPlaced&, const AttemptPlaced&) = default;
};
struct GangFormed {  // all parts prepared: run
  static constexpr int kBody = 13;
  AttemptId attempt;
  GangTable gang;
  // The table's digest_of(), if it goes down the gang's tree. Absent: a runner of the gang does not
  // know that, so each node is given the whole table.
  std::optional<Digest> rows = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "gang", s.gang);
    see(field<750>, "rows", s.rows);
  }
  friend bool operator==(const GangFormed&, const GangFormed&) = default;
};
struct PartChanged {  // the part's state moved forward
  static constexpr int kBody = 14;
  AttemptId attempt;
  NodeId node;
  PartReport report;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "report", s.report);
  }
  friend bool operator==(const PartChanged&, const PartChanged&) = default;
};
struct PartGone {
  static constexpr int kBody = 15;
  AttemptId attempt;
  NodeId node;
  Cause cause = Cause::runner_lost;
  Why why;
  Instant fenced_until = {};  // its ranks may run until then, by their lease; ns = 0: no fence
  bool revoked = false;       // its node was revoked: the retry is not charged
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "cause", s.cause);
    see(reason_or_old_text<4, 800>, "why", s.why);
    see(field<5>, "fenced_until", s.fenced_until);
    see(field<6>, "revoked", s.revoked);
  }
  friend bool operator==(const PartGone&, const PartGone&) = default;
};
struct AttemptDoomed {  // the first failure is known: the other parts must be stopped
  static constexpr int kBody = 16;
  AttemptId attempt;
  ExitReport report;
  StopReason reason = StopReason::gang_failed;
  std::optional<Duration> grace = {};  // for its ranks; none: CoreConfig::stop_grace
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "report", s.report);
    see(field<3>, "reason", s.reason);
    see(field<306>, "grace", s.grace);
  }
  friend bool operator==(const AttemptDoomed&, const AttemptDoomed&) = default;
};
struct AttemptEnded {  // all its parts have ended
  static constexpr int kBody = 17;
  AttemptId attempt;
  ExitReport report;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "report", s.report);
  }
  friend bool operator==(const AttemptEnded&, const AttemptEnded&) = default;
};
struct JobRequeued {
  static constexpr int kBody = 18;
  JobId job;
  AttemptId after;
  bool charged = true;
  Why why;  // without how the attempt ended; in old journals with it: see old_facts.h
  Instant not_before = {};  // back-off; ns = 0: none
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "after", s.after);
    see(field<3>, "charged", s.charged);
    see(reason_or_old_text<4, 800>, "why", s.why);
    see(field<5>, "not_before", s.not_before);
  }
  friend bool operator==(const JobRequeued&, const JobRequeued&) = default;
};
struct PartReleased {  // its logs are durable (or lost): the node may forget it
  static constexpr int kBody = 19;
  AttemptId attempt;
  NodeId node;
  bool logs_lost = false;        // given up: some of its logs did not arrive
  std::uint64_t lost_bytes = 0;  // log bytes for which the launcher had no space
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "logs_lost", s.logs_lost);
    see(field<4>, "lost_bytes", s.lost_bytes);
  }
  friend bool operator==(const PartReleased&, const PartReleased&) = default;
};
struct JobFinished {
  static constexpr int kBody = 20;
  JobId job;
  JobStatus status = JobStatus::completed;
  ExitReport report;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "status", s.status);
    see(field<3>, "report", s.report);
  }
  friend bool operator==(const JobFinished&, const JobFinished&) = default;
};

// Facts of pipelines and outputs take the name of a job as it is.
inline constexpr Rule kFactJobRule{.bytes = 64u << 10};

// A job's named outputs are trees in the blob store. Its end follows.
struct OutputsMerged {
  static constexpr int kBody = 113;
  JobId job;
  std::vector<MergedOutput> outputs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "outputs", s.outputs, {.count = kMaxOutputs});
  }
  friend bool operator==(const OutputsMerged&, const OutputsMerged&) = default;
};
// A step of the pipeline needs no job: that of another pipeline had the same content.
struct StepReused {
  static constexpr int kBody = 114;
  JobId job;  // the pipeline
  std::string step;
  JobId from;
  std::vector<MergedOutput> outputs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "step", s.step);
    see(field<3>, "from", s.from, kFactJobRule);
    see(field<4>, "outputs", s.outputs, {.count = kMaxOutputs});
  }
  friend bool operator==(const StepReused&, const StepReused&) = default;
};
// A step of the pipeline will not be run.
struct StepSkipped {
  static constexpr int kBody = 115;
  JobId job;  // the pipeline
  std::string step;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "step", s.step);
    see(reason_or_old_text<3, 4>, "why", s.why);
  }
  friend bool operator==(const StepSkipped&, const StepSkipped&) = default;
};

// The launcher has written the output to the remote that its path names.
struct OutputWritten {
  static constexpr int kBody = 118;
  JobId job;
  std::string output;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "output", s.output);
  }
  friend bool operator==(const OutputWritten&, const OutputWritten&) = default;
};
// It could not be written.
struct OutputNotWritten {
  static constexpr int kBody = 119;
  JobId job;
  std::string output;
  std::uint32_t tries = 0;  // that failed, with this one
  Why why;
  Instant again = {};  // it is tried again then; ns = 0: never, it is given up
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kFactJobRule);
    see(field<2>, "output", s.output);
    see(field<3>, "tries", s.tries);
    see(reason_or_old_text<4, 6>, "why", s.why);
    see(field<5>, "again", s.again);
  }
  friend bool operator==(const OutputNotWritten&, const OutputNotWritten&) = default;
};

struct JobDeleted {  // a final job, with its logs and the blobs that only it refers to
  static constexpr int kBody = 21;
  JobId job;
  std::string by;                 // a user's name; empty: deleted by a limit (Retention)
  std::string submission;         // its submission key, which is not accepted again
  std::uint64_t incarnation = 0;  // the least one for the next job with this name
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "by", s.by);
    see(field<3>, "submission", s.submission);
    see(field<4>, "era", s.incarnation);
  }
  friend bool operator==(const JobDeleted&, const JobDeleted&) = default;
};
struct CheckpointSaved {  // by a running part; its blobs are in the blob store
  static constexpr int kBody = 25;
  AttemptId attempt;
  NodeId node;
  CollectedOutput checkpoint;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "checkpoint", s.checkpoint);
  }
  friend bool operator==(const CheckpointSaved&, const CheckpointSaved&) = default;
};
// What a running part has sent until now, without its checkpoint. Kept for the case that its node
// is lost; the end of the part replaces it.
struct OutputsSoFar {
  static constexpr int kBody = 600;
  AttemptId attempt;
  NodeId node;
  std::vector<CollectedOutput> outputs;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "outputs", s.outputs, {.count = kMaxCollectedOutputs});
  }
  friend bool operator==(const OutputsSoFar&, const OutputsSoFar&) = default;
};
// What the gang found out about its ranks says something else now: other kinds, verdicts or ranks.
// The numbers in it are of this moment.
struct FoundChanged {
  static constexpr int kBody = 700;
  AttemptId attempt;
  NodeId node;      // of node rank 0, which compared them
  FoundList found;  // all that holds
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(by_hand<3>, "found", s.found);
  }
  friend bool operator==(const FoundChanged&, const FoundChanged&) = default;
};
struct FenceLifted {  // proof that a part that was given up has stopped
  static constexpr int kBody = 26;
  AttemptId attempt;
  NodeId node;
  Why why;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(reason_or_old_text<3, 800>, "why", s.why);
  }
  friend bool operator==(const FenceLifted&, const FenceLifted&) = default;
};

// Registers an environment's name and version. They never refer to another definition later.
struct EnvironmentRegistered {
  static constexpr int kBody = 30;
  RegisteredEnvironment environment;
  std::string by;
  std::string project = {};         // of the name, set by its first version; "": the default one
  std::string owner = {};           // of the name; "": of before names had owners
  bool foreign = false;             // from then, and by somebody whom its owner had not let
  std::optional<Bytes> files = {};  // of its build folder; see AssetRegistered
  static void table(auto& s, auto&& see) {
    see(field<1>, "environment", s.environment);
    see(field<2>, "by", s.by);
    see(field<3>, "project", s.project);
    see(field<53>, "owner", s.owner);
    see(field<54>, "foreign", s.foreign);
    see(field<77>, "files", s.files);
  }
  static void mend(EnvironmentRegistered& s) {
    if (s.files) s.files = counted_files(*s.files);
  }
  friend bool operator==(const EnvironmentRegistered&, const EnvironmentRegistered&) = default;
};
// Sets the archived flag of a version. Compaction writes this fact anew, in place of all that it
// dropped.
struct EnvironmentArchived {
  static constexpr int kBody = 36;
  std::string name;
  std::string version;  // "": all versions that the name has now
  bool archived = true;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "version", s.version);
    see(field<3>, "archived", s.archived);
  }
  friend bool operator==(const EnvironmentArchived&, const EnvironmentArchived&) = default;
};
// The node asked for a lock, because its plan had none for its platform.
struct EnvironmentWanted {
  static constexpr int kBody = 31;
  AttemptId attempt;
  NodeId node;
  std::string platform;
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "platform", s.platform);
  }
  friend bool operator==(const EnvironmentWanted&, const EnvironmentWanted&) = default;
};
// The node was told to solve and failed, for a reason that may not apply to other nodes.
struct EnvironmentNotSolved {
  static constexpr int kBody = 35;
  AttemptId attempt;
  NodeId node;
  std::uint64_t generation = 0;
  std::string platform;
  Why why;  // as its node says, bounded by kMaxNotSolvedBytes
  static void table(auto& s, auto&& see) {
    see(field<1>, "attempt", s.attempt);
    see(field<2>, "node", s.node);
    see(field<3>, "generation", s.generation);
    see(field<4>, "platform", s.platform);
    see(reason_fields<5, 800>, "why", s.why);
  }
  friend bool operator==(const EnvironmentNotSolved&, const EnvironmentNotSolved&) = default;
};
// The definition is solved for the jobs of one account that have it, or for those of one family of
// the account. The lock is in the blob store.
struct EnvironmentLocked {
  static constexpr int kBody = 32;
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
  static void table(auto& s, auto&& see) {
    see(field<1>, "definition", s.definition);
    see(field<2>, "generation", s.generation);
    see(field<3>, "lock", s.lock);
    see(field<4>, "attempt", s.attempt);
    see(field<5>, "node", s.node);
    see(field<25>, "account", s.account);
    see(field<26>, "family", s.family);
  }
  friend bool operator==(const EnvironmentLocked&, const EnvironmentLocked&) = default;
};
// A user asked for a rebuild, or a node that had solved was revoked: the account's or the family's
// locks of earlier generations are no longer used.
struct EnvironmentReset {
  static constexpr int kBody = 33;
  Digest definition;
  std::uint64_t generation = 0;
  std::string by;
  std::optional<std::string> account = {};  // nullopt: a fact of an earlier version, for all
  std::uint64_t family = 0;
  static void table(auto& s, auto&& see) {
    see(field<1>, "definition", s.definition);
    see(field<2>, "generation", s.generation);
    see(field<3>, "by", s.by);
    see(field<23>, "account", s.account);
    see(field<24>, "family", s.family);
  }
  friend bool operator==(const EnvironmentReset&, const EnvironmentReset&) = default;
};
// Nodes must delete the environments that they have not used since `unused_since`.
struct EnvironmentsPruned {
  static constexpr int kBody = 34;
  Instant unused_since;
  std::string by;
  static void table(auto& s, auto&& see) {
    see(field<1>, "unused_since", s.unused_since);
    see(field<2>, "by", s.by);
  }
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
