#pragma once
// Read-only views of the launcher's state for people. launcher/api makes them, and launcher/cli
// prints them (table, JSON, YAML). No decision depends on them.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/table.h"
#include "common/domain/data/name_grants.h"
#include "common/domain/job/job_status.h"
#include "common/domain/job/spec.h"
#include "common/domain/runners/assignment.h"
#include "common/domain/ranks/exit_report.h"
#include "common/domain/targets/metrics.h"
#include "common/domain/targets/node.h"
#include "common/domain/targets/node_labels.h"
#include "common/domain/why/why.h"

namespace lockstep {

struct PartView {
  NodeId node;
  std::string node_name;
  int node_rank = 0;
  int first_rank = 0;
  int ranks = 0;
  PartState state = PartState::staging;
  std::string progress;
  Allotment allotment;
  std::vector<CollectedOutput> outputs;  // see PartReport
  std::optional<EnvironmentReport> environment = {};
  std::vector<std::string> limits = {};  // launcher/api makes them of the next two
  std::vector<std::string> notes = {};
  std::vector<Why> limits_why = {};      // see PartReport
  std::vector<Why> notes_why = {};       // see PartReport
  std::optional<NotKept> not_kept = {};  // see PartReport
  std::optional<MeasuredPart> use = {};  // set while the part runs
  std::vector<RankUse> used = {};        // the sums of the ended ranks
  std::vector<RankEnd> ended = {};       // the ranks that have ended, sorted
  // The addresses of its node that ranks of the gang may name; the one in MASTER_ADDR first.
  std::vector<std::string> addresses = {};
  // The number of bytes at the end of its logs that were not kept; 0: the number is unknown.
  // Absent: all were kept.
  std::optional<Bytes> lost_logs = {};
  NetworkSettings settings = {};  // see PartReport
  Why why = {};                   // why it was given up; then `progress` is the same in words
  friend bool operator==(const PartView&, const PartView&) = default;
};

inline constexpr std::size_t kMaxPartAddresses = 16;
inline constexpr std::size_t kPartsWithSettings = 64;  // larger gangs' views have no settings

// How much a view has of each part. `outline`: without PartView::ended, PartView::addresses,
// PartView::settings and the probe's choice, which grow with ranks and networks, and for which
// lists and running watches have no use.
enum class ViewDetail { outline, whole };

enum class RankState { waiting, running, exited, killed, terminated, not_started, unknown };
std::string_view to_string(RankState state);  // "Waiting", "Running", "Exited", …
struct RankView {
  int rank = 0;
  RankState state = RankState::waiting;
  RankEnd end;  // the end, if the rank has ended
};
std::vector<RankView> ranks_of(const PartView& part);  // all of them, in order

// The checkpoint that an attempt began with.
struct CheckpointView {
  std::uint32_t attempt = 0;  // number of the attempt that saved it
  Instant saved;
  std::optional<Digest> tree;  // absent (and files and size 0): not staged yet
  std::uint64_t files = 0;
  Bytes size;
  JobId job = {};  // the job of that attempt; "": the same job
  friend bool operator==(const CheckpointView&, const CheckpointView&) = default;
};

struct AttemptView {
  std::uint32_t number = 0;
  Instant placed;
  Instant started;  // ns = 0: not yet
  Instant ended;    // ns = 0: not yet
  std::vector<PartView> parts;
  std::optional<ExitReport> report;
  std::string retried;  // `why` in words
  std::optional<CheckpointView> checkpoint;
  // What holds among its ranks now. For an attempt that ended and did not complete: what held last.
  // The durations count to the moment of the view.
  FoundList found = {};
  std::optional<ProbeResult> probe = {};  // the gang's probe; absent: there was none
  Why why = {};                           // RetriedAfter, if another attempt follows or will follow
  friend bool operator==(const AttemptView&, const AttemptView&) = default;
};

// A step of a pipeline.
enum class StepPhase { waiting, running, completed, reused, failed, skipped };
std::string_view to_string(StepPhase phase);  // "Waiting", …
struct StepView {
  std::string name;
  StepPhase phase = StepPhase::waiting;
  JobId job;                        // its own job, or the one whose outputs it reuses
  std::optional<JobStatus> status;  // the status of the step's own job
  std::string reason;               // why it waits, failed, or was not run: `why` in words
  std::string compute;
  Instant started, ended;          // the times of the step's own job; ns = 0: not yet
  std::vector<std::string> after;  // the steps that it is bound to
  bool in_vain = false;            // the same field of its job: see JobView::in_vain
  Why why = {};
  friend bool operator==(const StepView&, const StepView&) = default;
};

struct JobView {
  JobSpec spec;  // the spec, with its name filled in
  JobStatus status = JobStatus::queued;
  std::string reason;      // why it waits, or the failure in one line: `why` in words
  int queue_position = 0;  // 1 = next; 0 = not queued
  Instant submitted;
  Instant ended;
  std::vector<AttemptView> attempts;  // oldest first
  std::optional<ExitReport> report;   // the report of the last attempt, once the job is final
  Instant retry_at;                   // placed again from this time on; ns = 0: at any time
  bool shared = false;                // the owner lets the members of the project read the job
  // For a running job: how long its ranks have written nothing and used no cpu; 0: they did, or
  // that is usual, or it is unknown.
  Duration silent{0};
  // For a pipeline: its steps in its order; empty in lists. `spec.pipeline` has no steps in a view.
  std::vector<StepView> steps = {};
  // The named outputs of all nodes as one, of a pipeline and of a step.
  std::vector<MergedOutput> merged = {};
  std::vector<OutputWrite> writes = {};  // the writes of `merged` to remote datastores
  int children = 0;                      // jobs that its attempts submitted; 0 in lists
  int open_children = 0;                 // the submitted jobs that have not ended
  bool archived = false;                 // the job, or the pipeline whose step it is
  // The job waits for nodes that its target lacks and does not make: `reason` says what would help.
  bool in_vain = false;
  Why why = {};
  // `why` without words of the job (launcher/core/explain/words_of.h), for those who may only see
  // it. In no message.
  Why why_for_all = {};
  friend bool operator==(const JobView&, const JobView&) = default;
};

// For a completed job: the patterns of its `keep` for which every node of the last attempt reports
// that no new or changed file matched.
std::vector<std::string> unmatched_keep(const JobView& job);

// How much a node fetched and sent to others since the launcher started.
struct BlobTraffic {
  std::uint64_t from_launcher_bytes = 0;
  std::uint64_t from_peers_bytes = 0;
  std::uint64_t to_peers_bytes = 0;
  std::uint64_t lies = 0;  // fetches by other nodes in which it sent wrong bytes
  std::string last_lie;
  friend bool operator==(const BlobTraffic&, const BlobTraffic&) = default;
};
struct NodeView {
  NodeId id;
  std::string name;
  Liveness liveness = Liveness::unknown;
  bool draining = false;
  std::string reason;  // why it cannot be used: `why` in words
  Inventory inventory;
  std::vector<AttemptId> attempts;
  Instant last_heard;
  Instant joined;
  BlobTraffic blobs = {};
  bool waits_for_approval = false;
  Duration clock_ahead{0};                         // the node's clock minus the launcher's
  std::optional<Duration> clock_uncertainty = {};  // of clock_ahead; absent: not measured
  std::string compute = {};                        // the target that it belongs to
  NodeLabels labels = {};
  std::optional<MeasuredNode> use = {};
  std::string agent_version = {};       // in its newest session; "": unknown
  bool other_version = false;           // the agent's version is not the launcher's
  std::vector<NodeEvent> history = {};  // oldest first; only where it was asked for
  Why why = {};
  friend bool operator==(const NodeView&, const NodeView&) = default;
};

// A join token, without its secret.
struct TokenView {
  std::string id;       // the beginning of its hash, which tells nothing of the secret
  std::string compute;  // the target of the nodes that join with it
  std::string machine;  // the only one that may use it; "": any agent may
  std::string by;       // its maker; "": the launcher, or unknown
  Instant created;      // ns = 0: unknown
  Instant expires;
  int uses = 1;  // how many nodes may join with it
  int used = 0;  // the joins so far
  bool needs_approval = false;
  friend bool operator==(const TokenView&, const TokenView&) = default;
};
inline constexpr std::size_t kTokenIdCharacters = 12;
inline constexpr std::size_t kMaxTokens = 100'000;  // the most tokens in one reply

inline constexpr std::size_t kMaxUsageEntries = 1'000'000;  // nodes, jobs or parts

// The resources of a node and how much of them is used; the same for a job on its nodes.
struct NodeUsage {
  NodeId id;
  std::string name;
  Liveness liveness = Liveness::unknown;
  bool draining = false;
  int cpus = 0;
  Bytes memory;
  std::vector<Bytes> gpus;  // the memory of each
  int jobs = 0;             // the jobs that run on the node, also those that the asker may not see
  std::optional<MeasuredNode> use;
  static void table(auto& s, auto&& see) {
    see(field<1>, "id", s.id);
    see(field<2>, "name", s.name);
    see(field<3>, "liveness", s.liveness);
    see(field<4>, "draining", s.draining);
    see(field<5>, "cpus", s.cpus, kNotNegative);
    see(field<6>, "memory", s.memory);
    see(field<7>, "gpu_memory", s.gpus, {.count = kMaxUsageEntries});
    see(field<8>, "jobs", s.jobs, kNotNegative);
    see(field<9>, "use", s.use);
  }
  friend bool operator==(const NodeUsage&, const NodeUsage&) = default;
};
struct UsageNow {  // What all ranks of a part use now.
  RankUse sum;
  std::optional<int> gpu_percent;  // mean of the gpus that it holds
  Bytes gpu_memory;
  Duration age{0};
  bool stale = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "sum", s.sum);
    see(field<2>, "gpu_percent", s.gpu_percent, {.low = 0, .high = 100});
    see(field<3>, "gpu_memory", s.gpu_memory);
    see(field<4>, "age", s.age);
    see(field<5>, "stale", s.stale);
  }
  friend bool operator==(const UsageNow&, const UsageNow&) = default;
};
struct PartUsage {
  std::string node_name;
  int node_rank = 0, ranks = 0;
  int cpus = 0;  // held by the part
  Bytes memory;
  int gpus = 0;
  std::optional<UsageNow> use;  // absent: unknown, or the asker may not read the job
  static void table(auto& s, auto&& see) {
    see(field<1>, "node_name", s.node_name);
    see(field<2>, "node_rank", s.node_rank, kRankRule);
    see(field<3>, "ranks", s.ranks, kRankRule);
    see(field<4>, "cpus", s.cpus, kNotNegative);
    see(field<5>, "memory", s.memory);
    see(field<6>, "gpus", s.gpus, kNotNegative);
    see(field<7>, "use", s.use);
  }
  friend bool operator==(const PartUsage&, const PartUsage&) = default;
};
struct JobUsage {
  JobId job;
  std::string submitter;
  JobStatus status = JobStatus::running;
  std::uint32_t attempt = 0;
  std::vector<PartUsage> parts;
  Duration silent{0};  // the same time as JobView::silent
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "submitter", s.submitter);
    see(field<3>, "status", s.status);
    see(field<4>, "attempt", s.attempt);
    see(field<5>, "parts", s.parts, {.count = kMaxUsageEntries});
    see(field<6>, "silent", s.silent);
  }
  friend bool operator==(const JobUsage&, const JobUsage&) = default;
};

// An environment that somebody registered, or that is in the operator's map.
struct EnvironmentView {
  struct Lock {
    EnvironmentLock lock;
    Instant solved;
    std::string node_name;  // the node that solved it
    JobId job;              // the job that it was solved for
    static void table(auto& s, auto&& see) {
      see(field<1>, "lock", s.lock);
      see(field<2>, "solved", s.solved);
      see(field<3>, "node_name", s.node_name);
      see(field<4>, "job", s.job, kNameRule);
    }
    friend bool operator==(const Lock&, const Lock&) = default;
  };
  RegisteredEnvironment environment;
  Instant created;
  std::string created_by;
  Digest definition;
  std::vector<Lock> locks;
  JobId last_job;            // the newest job with this definition; "": none
  std::string project = {};  // the project of the name; "": the operator's map has the name
  std::string owner = {};    // the owner of the name; "": the operator's map has the name
  NameGrants grants = {};    // the other users and projects that may add versions to the name
  bool archived = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "environment", s.environment);
    see(field<2>, "created", s.created);
    see(field<3>, "created_by", s.created_by);
    see(field<4>, "definition", s.definition);
    see(field<5>, "locks", s.locks, {.count = kMaxEnvironmentPlatforms});
    see(field<6>, "last_job", s.last_job, kNameRule);
    see(field<7>, "project", s.project, kUserNameRule);
    see(field<57>, "owner", s.owner, kUserNameRule);
    see(field<58>, "grants", s.grants);
    see(field<59>, "archived", s.archived);
  }
  friend bool operator==(const EnvironmentView&, const EnvironmentView&) = default;
};

// The number of files in which a tree differs from another tree.
struct FileChanges {
  std::uint64_t added = 0, removed = 0, changed = 0;  // files and symlinks
  std::string first;  // the path of the first of them in the tree; "": none
  bool more = false;  // the count ended at a limit: there may be more
  friend bool operator==(const FileChanges&, const FileChanges&) = default;
};

// One part of a job that differs from an earlier run of the same step.
struct PartChange {
  std::string part;                       // "code", "command", "input 'data'", "variable 'LR'"
  std::optional<Digest> was, is;          // trees of files that differ; both absent: it has none
  std::optional<FileChanges> files = {};  // absent: none, or they could not be read
  friend bool operator==(const PartChange&, const PartChange&) = default;
};

// Why the outputs of an earlier run were not reused.
struct RerunView {
  JobId before;  // the newest run of this step that could have been reused
  std::vector<PartChange> changes;
  friend bool operator==(const RerunView&, const RerunView&) = default;
};

// The network settings of one rank of a job's last attempt, and where other ranks have others.
struct SettingsView {
  struct Elsewhere {
    NetworkSetting setting;
    std::string ranks;  // "8-15, 24"
    friend bool operator==(const Elsewhere&, const Elsewhere&) = default;
  };
  int rank = 0;
  std::string node_name;  // the name of its node
  NetworkSettings settings;
  std::vector<Elsewhere> elsewhere;  // another value, not only another reason
  bool more = false;                 // true: `elsewhere` ended at kMaxElsewhere
  std::string absent = {};           // `why_absent` in words; "": they are here
  Why why_absent = {};
  friend bool operator==(const SettingsView&, const SettingsView&) = default;
};
inline constexpr std::size_t kMaxElsewhere = 64;

// A line of `lockstep job explain`.
struct ExplainLine {
  Why why;
  // The reason without words of the job (launcher/core/explain/words_of.h), for readers who may
  // only see the job; none: such readers do not get the line.
  Why for_all;
  int indent = 0;
  friend bool operator==(const ExplainLine&, const ExplainLine&) = default;
};

struct ExplainView {
  JobView job;
  std::vector<std::string> lines;  // `reasons` in words: of its placement, one a line
  // A step's changes since its earlier run; absent: not compared, or the caller may not read it.
  std::optional<RerunView> rerun = {};
  // The settings; absent: they were not requested, or the caller may not read the job.
  std::optional<SettingsView> settings = {};
  std::vector<ExplainLine> reasons = {};  // as data; no message carries them
  friend bool operator==(const ExplainView&, const ExplainView&) = default;
};

// Something that happened to a job.
struct JobEvent {
  Instant at;
  std::string what;           // the event in one word: "Submitted", "Placed", "Running", …
  std::uint32_t attempt = 0;  // 0: it concerns no attempt
  std::string node_name;      // "": it concerns no single node
  Why why;
  std::string message = {};  // `why` in words
  friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

// How many final jobs a launcher keeps. Beyond any of these limits, jobs of the user who has most
// are deleted with their logs and outputs, the oldest first; beyond `jobs_for`, everybody's. 0 = no
// limit.
struct Retention {
  Duration jobs_for = minutes(365 * 24 * 60);  // the time for which jobs are kept after their end
  std::uint64_t jobs = 100'000;
  Bytes logs = gibibytes(100);  // total size of their logs
  Bytes outputs;                // total size of their collected outputs
  friend bool operator==(const Retention&, const Retention&) = default;
};

// Writes of the launcher's journal that take longer than a second.
struct DiskWrites {
  Duration slow_for{0};   // how long one has taken that is not done yet; 0: none
  Duration last_slow{0};  // how long the last one took; 0: none did since the start
  Instant last_slow_ended = {};
  friend bool operator==(const DiskWrites&, const DiskWrites&) = default;
};

struct LauncherStatus {
  std::string version;
  std::string endpoint;
  std::int64_t pid = 0;
  std::string home;
  Instant started;
  std::map<std::string, int> jobs;   // the number of jobs by status
  std::map<std::string, int> nodes;  // the number of nodes by liveness
  Retention keeps;
  Bytes disk_free = {};         // the free space of the file system that holds the home
  Bytes low_space = {};         // no new work is taken with less; 0: unknown, older launcher
  std::string low_reason = {};  // why no new work is taken now; "": it is taken
  int draining = 0;             // how many of `nodes` are drained: they take no new work
  DiskWrites writes = {};
  friend bool operator==(const LauncherStatus&, const LauncherStatus&) = default;
};

}  // namespace lockstep
