#pragma once
// What the launcher answers to a person: read-only pictures of its state, made by launcher/api,
// printed by launcher/cli (table, JSON, YAML). Never an input to a decision.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/assignment.h"
#include "common/domain/exit_report.h"
#include "common/domain/job_spec.h"
#include "common/domain/node.h"

namespace lockstep {

// Azure's words (reference: statuses of `az ml job show`).
enum class JobStatus {
  queued,
  preparing,
  starting,
  running,
  finalizing,
  cancel_requested,
  completed,
  failed,
  canceled
};
std::string_view to_string(JobStatus status);  // "Queued", "CancelRequested", …
std::optional<JobStatus> job_status_from(std::string_view word);
bool is_final(JobStatus status);

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
  std::vector<std::string> limits = {};  // see PartReport
  std::optional<NotKept> not_kept = {};  // see PartReport
  friend bool operator==(const PartView&, const PartView&) = default;
};

// What an attempt began with.
struct CheckpointView {
  std::uint32_t attempt = 0;  // that saved it
  Instant saved;
  std::optional<Digest> tree;  // absent, as size and files: not staged yet
  std::uint64_t files = 0;
  Bytes size;
  JobId job = {};  // whose attempt that is; "": the same job's
  friend bool operator==(const CheckpointView&, const CheckpointView&) = default;
};

struct AttemptView {
  std::uint32_t number = 0;
  Instant placed;
  Instant started;  // ns = 0: not yet
  Instant ended;    // ns = 0: not yet
  std::vector<PartView> parts;
  std::optional<ExitReport> report;
  std::string retried;  // why another attempt follows
  std::optional<CheckpointView> checkpoint;
  friend bool operator==(const AttemptView&, const AttemptView&) = default;
};

struct JobView {
  JobSpec spec;  // name filled
  JobStatus status = JobStatus::queued;
  std::string reason;      // why it waits, or the failure in one line
  int queue_position = 0;  // 1 = next; 0 = not queued
  Instant submitted;
  Instant ended;
  std::vector<AttemptView> attempts;  // oldest first
  std::optional<ExitReport> report;   // of the last attempt, once final
  Instant retry_at;                   // placed again no earlier; ns = 0: when there is room
  bool shared = false;                // its owner lets the members of its project read it
  friend bool operator==(const JobView&, const JobView&) = default;
};

// The `keep` patterns of a Completed job for which every node reports that no file matches.
std::vector<std::string> unmatched_keep(const JobView& job);

// What a node fetched and gave, since the launcher started.
struct BlobTraffic {
  std::uint64_t from_launcher_bytes = 0;
  std::uint64_t from_peers_bytes = 0;
  std::uint64_t to_peers_bytes = 0;
  std::uint64_t lies = 0;  // how often it sent other nodes data with the wrong digest
  std::string last_lie;
  friend bool operator==(const BlobTraffic&, const BlobTraffic&) = default;
};
struct NodeView {
  NodeId id;
  std::string name;
  Liveness liveness = Liveness::unknown;
  bool draining = false;
  std::string reason;  // why it is not usable
  Inventory inventory;
  std::vector<AttemptId> attempts;
  Instant last_heard;
  Instant joined;
  BlobTraffic blobs = {};
  bool waits_for_approval = false;
  Duration clock_ahead{0};   // of the launcher's, as it was heard last; negative: behind
  std::string compute = {};  // the target whose node it is
  friend bool operator==(const NodeView&, const NodeView&) = default;
};

// A registered definition, or one that the operator's map names.
struct EnvironmentView {
  struct Lock {
    EnvironmentLock lock;
    Instant solved;
    std::string node_name;  // where
    JobId job;              // for which
    friend bool operator==(const Lock&, const Lock&) = default;
  };
  RegisteredEnvironment environment;
  Instant created;
  std::string created_by;
  Digest definition;
  std::vector<Lock> locks;
  JobId last_job;            // the newest that has this definition; "": none
  std::string project = {};  // of the name; "": it is of the operator's map
  friend bool operator==(const EnvironmentView&, const EnvironmentView&) = default;
};

struct ExplainView {
  JobView job;
  std::vector<std::string> lines;  // the placement, reason by reason, in words
  friend bool operator==(const ExplainView&, const ExplainView&) = default;
};

// One thing that happened to a job.
struct JobEvent {
  Instant at;
  std::string what;           // one word: "Submitted", "Placed", "Running", …
  std::uint32_t attempt = 0;  // 0: it concerns no attempt
  std::string node_name;      // "": no one node
  std::string message;
  friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

// How many final jobs a launcher keeps; beyond these limits, the oldest are deleted with their logs
// and outputs. 0 = no such limit.
struct Retention {
  Duration jobs_for = minutes(365 * 24 * 60);  // since their end
  std::uint64_t jobs = 100'000;
  Bytes logs = gibibytes(100);  // output of their ranks, in total
  Bytes outputs;                // what they left, as it was collected
  friend bool operator==(const Retention&, const Retention&) = default;
};

struct LauncherStatus {
  std::string version;
  std::string endpoint;
  std::int64_t pid = 0;
  std::string home;
  Instant started;
  std::map<std::string, int> jobs;   // status -> count
  std::map<std::string, int> nodes;  // liveness -> count
  Retention keeps;
  Bytes disk_free = {};         // where the home is
  Bytes low_space = {};         // below it no new work is taken; 0: an older launcher did not say
  std::string low_reason = {};  // why no new work is taken now; "": it is taken
  int draining = 0;             // how many of `nodes` are drained: they take no new work
  friend bool operator==(const LauncherStatus&, const LauncherStatus&) = default;
};

}  // namespace lockstep
