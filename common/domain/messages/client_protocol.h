#pragma once
// The protocol between users' programs (clients) and the launcher. The launcher accepts these
// requests only from a user's key.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/table.h"
#include "common/domain/data/asset.h"
#include "common/domain/data/datastore.h"
#include "common/domain/data/shared_name.h"
#include "common/domain/messages/envelope.h"
#include "common/domain/messages/job_check.h"
#include "common/domain/messages/job_requests.h"
#include "common/domain/messages/views.h"
#include "common/domain/people/access.h"
#include "common/domain/people/audit.h"
#include "common/domain/people/quota.h"
#include "common/domain/people/secrets.h"
#include "common/domain/runs/curve.h"
#include "common/domain/targets/compute.h"
#include "common/domain/targets/size.h"

namespace lockstep {

// ---- client -> launcher ------------------------------------------------------------------------
struct ShowJob {
  static constexpr int kBody = 33;
  JobId job;
  bool with_steps = false;  // of a pipeline: spec.pipeline has its steps, for who may read the job
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "with_steps", s.with_steps);
  }
  friend bool operator==(const ShowJob&, const ShowJob&) = default;
};
struct ExplainJob {
  static constexpr int kBody = 34;
  JobId job;
  std::optional<int> settings_of_rank = {};  // also the network settings of this rank
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<700>, "settings_of_rank", s.settings_of_rank, kRankRule);
  }
  friend bool operator==(const ExplainJob&, const ExplainJob&) = default;
};
struct ListEvents {  // of one job, oldest first
  static constexpr int kBody = 45;
  JobId job;
  Instant since;  // only events from this time on
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "since", s.since);
  }
  friend bool operator==(const ListEvents&, const ListEvents&) = default;
};
// Answered by JobReply at once, then by a JobUpdate at each change until the job is final, with
// StillWatching messages in between.
struct WatchJob {
  static constexpr int kBody = 35;
  JobId job;
  static void table(auto& s, auto&& see) { see(field<1>, "job", s.job, kNameRule); }
  friend bool operator==(const WatchJob&, const WatchJob&) = default;
};
struct ListNodes {
  static constexpr int kBody = 36;
  static void table(auto&, auto&&) {}
  friend bool operator==(const ListNodes&, const ListNodes&) = default;
};
struct ShowNode {
  static constexpr int kBody = 37;
  std::string name_or_id;
  bool history = false;  // with NodeView::history
  static void table(auto& s, auto&& see) {
    see(field<1>, "name_or_id", s.name_or_id, kNameRule);
    see(field<2>, "history", s.history);
  }
  friend bool operator==(const ShowNode&, const ShowNode&) = default;
};
struct CreateToken {
  static constexpr int kBody = 38;
  Duration valid_for = minutes(60);
  int uses = 1;
  Approval approval = Approval::as_configured;
  std::string compute = {};  // nodes that join with the token belong to this target; "": "local"
  static void table(auto& s, auto&& see) {
    see(field<1>, "valid_for", s.valid_for);
    see(field<2>, "uses", s.uses, {.low = 1, .high = 1'000'000});
    see(field<3>, "approval", s.approval);
    see(field<4>, "compute", s.compute, kNameRule);
  }
  friend bool operator==(const CreateToken&, const CreateToken&) = default;
};
// Of one token: what is stolen with it stays small, and so does the time in which it can be used.
inline constexpr int kMaxTokenUses = 1'000;
inline constexpr Duration kMaxTokenValidFor = minutes(30 * 24 * 60);
// Answered by TokensReply: the tokens that the launcher remembers.
struct ListTokens {
  static constexpr int kBody = 562;
  static void table(auto&, auto&&) {}
  friend bool operator==(const ListTokens&, const ListTokens&) = default;
};
// No node joins with the token any more. Nodes that have joined stay.
struct RevokeToken {
  static constexpr int kBody = 563;
  std::string id;  // TokenView::id, or a beginning of it that only one token has
  static void table(auto& s, auto&& see) { see(field<1>, "id", s.id, kUserNameRule); }
  friend bool operator==(const RevokeToken&, const RevokeToken&) = default;
};
struct DrainNode {
  static constexpr int kBody = 39;
  std::string name_or_id;
  bool drain = true;
  std::string reason;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name_or_id", s.name_or_id, kNameRule);
    see(field<2>, "drain", s.drain);
    see(field<3>, "reason", s.reason, kCutText);
  }
  friend bool operator==(const DrainNode&, const DrainNode&) = default;
};
// Sets and removes labels of one node, as `kubectl label` does.
struct LabelNode {
  static constexpr int kBody = 305;
  std::string name_or_id;
  NodeLabels set;
  std::vector<std::string> remove;  // keys
  static void table(auto& s, auto&& see) {
    see(field<1>, "name_or_id", s.name_or_id);
    see(field<2>, "set", s.set, {.count = 10 * kMaxNodeLabels});
    see(field<3>, "remove", s.remove, {.count = 10 * kMaxNodeLabels});
  }
  friend bool operator==(const LabelNode&, const LabelNode&) = default;
};
struct ApproveNode {  // a node that waits for approval may get work from now on
  static constexpr int kBody = 260;
  std::string name_or_id;
  static void table(auto& s, auto&& see) { see(field<1>, "name_or_id", s.name_or_id, kNameRule); }
  friend bool operator==(const ApproveNode&, const ApproveNode&) = default;
};
struct RemoveNode {  // for ever: its key is revoked, and its id is never used again
  static constexpr int kBody = 42;
  std::string name_or_id;
  bool now = false;  // even while it is ALIVE or holds attempts, which are then given up
  static void table(auto& s, auto&& see) {
    see(field<1>, "name_or_id", s.name_or_id, kNameRule);
    see(field<2>, "now", s.now);
  }
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};
// Answered by EnvironmentReply. An environment without a version gets the next free number.
// Registering the same definition again succeeds; a different one under a taken name and version is
// an error.
struct CreateEnvironment {
  static constexpr int kBody = 140;
  RegisteredEnvironment environment;
  // The project of a new name; "": the only project that the asker may submit to, else the default
  // one.
  std::string project = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "environment", s.environment);
    see(field<2>, "project", s.project, kUserNameRule);
  }
  friend bool operator==(const CreateEnvironment&, const CreateEnvironment&) = default;
};
// Answered by EnvironmentReply. `reference` is as in a job file, without "azureml:": NAME,
// NAME@latest, NAME:VERSION, or a registry's URL "azureml://registries/…" that is in the operator's
// map.
struct ShowEnvironment {
  static constexpr int kBody = 141;
  std::string reference;
  static void table(auto& s, auto&& see) { see(field<1>, "reference", s.reference); }
  friend bool operator==(const ShowEnvironment&, const ShowEnvironment&) = default;
};
struct ListEnvironments {
  static constexpr int kBody = 142;
  std::string name;  // lists all versions of this name; "": the newest version of each name
  ArchivedToo archived = ArchivedToo::no;
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "archived", s.archived, {.since = "old"});
  }
  friend bool operator==(const ListEnvironments&, const ListEnvironments&) = default;
};
// Leaves versions out of lists and of @latest, or takes them back in. Jobs that name one still get
// it.
struct ArchiveEnvironment {
  static constexpr int kBody = 144;
  std::string name;
  std::string version;   // "": all that it has
  bool archived = true;  // false: restores
  static void table(auto& s, auto&& see) {
    see(field<1>, "name", s.name);
    see(field<2>, "version", s.version);
    see(field<3>, "archived", s.archived);
  }
  friend bool operator==(const ArchiveEnvironment&, const ArchiveEnvironment&) = default;
};
struct PruneEnvironments {  // nodes delete environments they built that were unused for so long
  static constexpr int kBody = 143;
  Duration unused_for{0};
  static void table(auto& s, auto&& see) { see(field<1>, "unused_for", s.unused_for); }
  friend bool operator==(const PruneEnvironments&, const PruneEnvironments&) = default;
};
struct GetStatus {
  static constexpr int kBody = 40;
  static void table(auto&, auto&&) {}
  friend bool operator==(const GetStatus&, const GetStatus&) = default;
};
struct Shutdown {  // refused while jobs run, unless cancel_jobs is set
  static constexpr int kBody = 41;
  bool cancel_jobs = false;
  static void table(auto& s, auto&& see) { see(field<1>, "cancel_jobs", s.cancel_jobs); }
  friend bool operator==(const Shutdown&, const Shutdown&) = default;
};

struct WhoAmI {  // answered by UsersReply with the asking user
  static constexpr int kBody = 160;
  static void table(auto&, auto&&) {}
  friend bool operator==(const WhoAmI&, const WhoAmI&) = default;
};
struct ListUsers {
  static constexpr int kBody = 161;
  std::string name;  // "": all
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name, kUserNameRule); }
  friend bool operator==(const ListUsers&, const ListUsers&) = default;
};
struct ListProjects {
  static constexpr int kBody = 162;
  static void table(auto&, auto&&) {}
  friend bool operator==(const ListProjects&, const ListProjects&) = default;
};
// Answered by Done.
struct ChangePrincipals {
  static constexpr int kBody = 163;
  std::variant<AddUser, RemoveUser, SetAccount, ChangeRole, AddKey, RevokeKey, CreateProject,
               RemoveProject, SetQuota>
      change;
  static void table(auto& s, auto&& see) {
    see(one_of<1, 2, 3, 4, 5, 6, 7, 8, 20>, "change", s.change);
  }
  friend bool operator==(const ChangePrincipals&, const ChangePrincipals&) = default;
};
// Answered by QuotasReply: the quota of `holder`; without a holder and with `all`, the quotas of
// all users and projects that have one or use something, as far as the asker may see them; else
// those of the asker and the asker's projects.
struct ListQuotas {
  static constexpr int kBody = 250;
  std::optional<QuotaHolder> holder;
  bool all = false;
  static void table(auto& s, auto&& see) {
    see(field<1>, "holder", s.holder);
    see(field<2>, "all", s.all);
  }
  friend bool operator==(const ListQuotas&, const ListQuotas&) = default;
};

// Answered by UsageReply: all nodes, and the jobs that hold some of them, as far as the asker may
// see them.
struct GetUsage {
  static constexpr int kBody = 321;
  bool nodes = true, jobs = true;
  static void table(auto& s, auto&& see) {
    see(field<1>, "nodes", s.nodes);
    see(field<2>, "jobs", s.jobs);
  }
  friend bool operator==(const GetUsage&, const GetUsage&) = default;
};

// Answered by MetricsReply: what the job's own run has logged, and with a name the curves of that
// metric, of each attempt and rank.
struct GetMetrics {
  JobId job;
  std::string name = {};  // "": no curves
  metrics::Axis axis = metrics::Axis::step;
  int buckets = 100;  // of each curve: 1 to metrics::kMaxBuckets
  static constexpr int kBody = 570;
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "name", s.name, {.bytes = metrics::kMaxMetricNameBytes});
    see(field<3>, "axis", s.axis);
    see(field<4>, "buckets", s.buckets, {.low = 1, .high = metrics::kMaxBuckets});
  }
  friend bool operator==(const GetMetrics&, const GetMetrics&) = default;
};

inline constexpr std::size_t kMaxLatestJobs = 1'000, kMaxLatestMetrics = 10;  // of one question
// Answered by LatestReply: what these jobs logged last of some metrics.
struct GetLatest {
  std::vector<JobId> jobs;
  std::vector<std::string> metrics;
  static constexpr int kBody = 572;
  static void table(auto& s, auto&& see) {
    see(field<1>, "jobs", s.jobs, {.count = kMaxLatestJobs});
    see(field<2>, "metrics", s.metrics,
        {.bytes = metrics::kMaxMetricNameBytes, .count = kMaxLatestMetrics});
  }
  friend bool operator==(const GetLatest&, const GetLatest&) = default;
};

// Answered by DatastoresReply: the datastores that the asker may use, or the one called `name`.
struct ListDatastores {
  static constexpr int kBody = 352;
  std::string name;
  static void table(auto& s, auto&& see) { see(field<1>, "name", s.name); }
  friend bool operator==(const ListDatastores&, const ListDatastores&) = default;
};

using ClientRequest =
    std::variant<Submit, CancelJob, DeleteJobs, ListJobs, ShowJob, ExplainJob, ListEvents, WatchJob,
                 ListNodes, ShowNode, CreateToken, DrainNode, RemoveNode, CreateEnvironment,
                 ShowEnvironment, ListEnvironments, PruneEnvironments, GetStatus, Shutdown, WhoAmI,
                 ListUsers, ListProjects, ChangePrincipals, QueryAudit, VerifyAudit, SetSecret,
                 RemoveSecret, ListSecrets, ListQuotas, ApproveNode, ShareJob, UpdateJob,
                 CheckJobFile, CreateCompute, UpdateCompute, DeleteCompute, ListComputes,
                 AttachHosts, DetachHosts, ReadComputeLog, DefineSizes, RemoveSize, GrantSize,
                 ListSizes, LabelNode, GetUsage, StartCompute, StopCompute, RestartCompute,
                 CreateAsset, ListAssets, ShowAsset, ArchiveAsset, ListDatastores, ArchiveJob,
                 AnnotateJob, ShareName, DeleteVersions, ListTokens, RevokeToken,
                 ArchiveEnvironment, AnnotateVersion, GetMetrics, GetLatest>;

// ---- launcher -> client ------------------------------------------------------------------------
struct SubmitReply {
  static constexpr int kBody = 60;
  JobId job;
  bool snapshot_missing =
      false;  // not accepted: upload the snapshot over the bulk socket and submit again
  // For the person who submits: which target was chosen, and what of the job is not used.
  std::vector<std::string> notes = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "snapshot_missing", s.snapshot_missing);
    see(field<60>, "notes", s.notes, {.count = 1'000});
  }
  friend bool operator==(const SubmitReply&, const SubmitReply&) = default;
};
struct JobReply {
  static constexpr int kBody = 61;
  JobView job;
  static void table(auto& s, auto&& see) { see(field<1>, "job", s.job); }
  friend bool operator==(const JobReply&, const JobReply&) = default;
};
struct JobsDeleted {
  static constexpr int kBody = 70;
  struct Kept {  // a job that was named and not deleted, and why
    JobId job;
    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::string project = {};  // of the job. For the audit log; in no message
    static void table(auto& s, auto&& see) {
      see(field<1>, "job", s.job);
      see(field<2>, "code", s.code);
      see(field<3>, "message", s.message, kCutText);
      see(nowhere, "project", s.project);
    }
    friend bool operator==(const Kept&, const Kept&) = default;
  };
  std::vector<JobId> jobs;
  std::vector<Kept> kept;
  std::int64_t more = 0;  // so many more jobs match and are not deleted yet
  // Of each of `jobs`. For the audit log; in no message.
  std::vector<std::string> projects = {};
  static void table(auto& s, auto&& see) {
    see(field<1>, "jobs", s.jobs, {.count = kMaxJobsInReply});
    see(field<2>, "kept", s.kept, {.count = kMaxJobsInReply});
    see(field<3>, "more", s.more);
    see(nowhere, "projects", s.projects);
  }
  friend bool operator==(const JobsDeleted&, const JobsDeleted&) = default;
};
inline constexpr std::size_t kMaxDeletionsAtOnce = 1'000;
struct JobUpdate {
  static constexpr int kBody = 62;
  JobView job;
  static void table(auto& s, auto&& see) { see(field<1>, "job", s.job); }
  friend bool operator==(const JobUpdate&, const JobUpdate&) = default;
};
// Sent every kStillWatchingEvery to each connection that watches a job: all changes until now were
// sent to it. When a message cannot be sent to a connection, the launcher ends its watch. So a
// client that does not get this message watches again.
struct StillWatching {
  static constexpr int kBody = 180;
  JobId job;
  Instant launcher_started;  // changes when the launcher process was restarted
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job, kNameRule);
    see(field<2>, "launcher_started", s.launcher_started);
  }
  friend bool operator==(const StillWatching&, const StillWatching&) = default;
};
inline constexpr Duration kStillWatchingEvery = seconds(5);
struct JobsReply {
  static constexpr int kBody = 63;
  std::vector<JobView> jobs;
  std::int64_t more = 0;       // so many older jobs match and are not in this reply
  bool more_at_least = false;  // there may be more than `more`: not all were counted
  static void table(auto& s, auto&& see) {
    see(field<1>, "jobs", s.jobs, {.count = kMaxJobsInReply});
    see(field<2>, "more", s.more);
    see(field<42>, "more_at_least", s.more_at_least);
  }
  friend bool operator==(const JobsReply&, const JobsReply&) = default;
};
inline constexpr std::size_t kMaxEventsInReply = 10'000;
inline constexpr std::size_t kMaxNodesInReply = 100'000;
struct ExplainReply {
  static constexpr int kBody = 64;
  ExplainView explain;
  static void table(auto& s, auto&& see) { see(field<1>, "explain", s.explain); }
  friend bool operator==(const ExplainReply&, const ExplainReply&) = default;
};
struct EventsReply {
  static constexpr int kBody = 75;
  std::vector<JobEvent> events;
  std::uint64_t left_out = 0;  // so many events in the middle were not kept
  bool final = false;          // the job is final: no more events will follow
  static void table(auto& s, auto&& see) {
    see(field<1>, "events", s.events, {.count = kMaxEventsInReply});
    see(field<2>, "left_out", s.left_out);
    see(field<3>, "final", s.final);
  }
  friend bool operator==(const EventsReply&, const EventsReply&) = default;
};
struct NodesReply {
  static constexpr int kBody = 65;
  std::vector<NodeView> nodes;
  static void table(auto& s, auto&& see) {
    see(field<1>, "nodes", s.nodes, {.count = kMaxNodesInReply});
  }
  friend bool operator==(const NodesReply&, const NodesReply&) = default;
};
struct EnvironmentReply {
  static constexpr int kBody = 150;
  EnvironmentView environment;
  static void table(auto& s, auto&& see) { see(field<1>, "environment", s.environment); }
  friend bool operator==(const EnvironmentReply&, const EnvironmentReply&) = default;
};
inline constexpr std::size_t kMaxEnvironmentsInReply = 100'000;
struct EnvironmentsReply {
  static constexpr int kBody = 151;
  std::vector<EnvironmentView> environments;
  static void table(auto& s, auto&& see) {
    see(field<1>, "environments", s.environments, {.count = kMaxEnvironmentsInReply});
  }
  friend bool operator==(const EnvironmentsReply&, const EnvironmentsReply&) = default;
};
struct TokenReply {  // the text of a token file
  static constexpr int kBody = 66;
  std::string token;
  Instant expires;
  static void table(auto& s, auto&& see) {
    see(field<1>, "token", s.token);
    see(field<2>, "expires", s.expires);
  }
  friend bool operator==(const TokenReply&, const TokenReply&) = default;
};
struct TokensReply {
  static constexpr int kBody = 564;
  std::vector<TokenView> tokens;  // the newest first
  static void table(auto& s, auto&& see) {
    see(field<1>, "tokens", s.tokens, {.count = kMaxTokens});
  }
  friend bool operator==(const TokensReply&, const TokensReply&) = default;
};
struct StatusReply {
  static constexpr int kBody = 67;
  LauncherStatus status;
  static void table(auto& s, auto&& see) { see(field<1>, "status", s.status); }
  friend bool operator==(const StatusReply&, const StatusReply&) = default;
};
struct Done {
  static constexpr int kBody = 68;
  std::string message;
  static void table(auto& s, auto&& see) { see(field<1>, "message", s.message, kCutText); }
  friend bool operator==(const Done&, const Done&) = default;
};

struct UsersReply {
  static constexpr int kBody = 170;
  std::vector<UserView> users;
  static void table(auto& s, auto&& see) { see(field<1>, "users", s.users, {.count = kMaxUsers}); }
  friend bool operator==(const UsersReply&, const UsersReply&) = default;
};
struct ProjectsReply {
  static constexpr int kBody = 171;
  std::vector<ProjectView> projects;
  static void table(auto& s, auto&& see) {
    see(field<1>, "projects", s.projects, {.count = kMaxProjects + 1});
  }
  friend bool operator==(const ProjectsReply&, const ProjectsReply&) = default;
};

struct QuotasReply {
  static constexpr int kBody = 251;
  std::vector<QuotaView> quotas;
  static void table(auto& s, auto&& see) {
    see(field<1>, "quotas", s.quotas, {.count = kMaxUsers + kMaxProjects + 1});
  }
  friend bool operator==(const QuotasReply&, const QuotasReply&) = default;
};

struct UsageReply {
  static constexpr int kBody = 322;
  std::vector<NodeUsage> nodes;
  std::vector<JobUsage> jobs;
  std::int64_t more = 0;  // so many more jobs are not in this reply
  static void table(auto& s, auto&& see) {
    see(field<1>, "nodes", s.nodes, {.count = kMaxUsageEntries});
    see(field<2>, "jobs", s.jobs, {.count = kMaxUsageEntries});
    see(field<3>, "more", s.more);
  }
  friend bool operator==(const UsageReply&, const UsageReply&) = default;
};

// An interim reply: the request waits until the launcher's disk has taken a write. Sent about once
// a second to senders that know it, until the reply follows. The request needs no repetition.
// For how long after it the sender waits for the next reply.
inline constexpr Duration kWaitsForDiskLasts = seconds(10);
struct WaitsForDisk {
  static constexpr int kBody = 323;
  Duration slow_for{0};  // how long the write has taken
  static void table(auto& s, auto&& see) { see(field<1>, "slow_for", s.slow_for); }
  friend bool operator==(const WaitsForDisk&, const WaitsForDisk&) = default;
};

// An interim reply like WaitsForDisk: the request waits for data that the launcher fetches. For how
// long after it the sender waits for the next reply: kWaitsForDiskLasts.
struct WaitsForData {
  static constexpr int kBody = 354;
  std::string what;  // "fetching azureml://datastores/lake/paths/faces: 1.2/8.0 GiB"
  static void table(auto& s, auto&& see) { see(field<1>, "what", s.what); }
  friend bool operator==(const WaitsForData&, const WaitsForData&) = default;
};

inline constexpr std::size_t kMaxMetricsListed = 100'000;  // the store keeps no more of a job
// Of a job that has logged nothing all are empty.
struct MetricsReply {
  std::vector<metrics::MetricSummary> metrics;  // by name
  std::vector<metrics::Curve> curves;           // by attempt and rank; at most kMaxCurves
  std::map<std::string, std::string> params = {}, tags = {};
  static constexpr int kBody = 571;
  static void table(auto& s, auto&& see) {
    see(field<1>, "metrics", s.metrics, {.count = kMaxMetricsListed});
    see(field<2>, "curves", s.curves, {.count = metrics::kMaxCurves});
    see(field<3>, "params", s.params, {.count = kMaxMetricsListed});
    see(field<4>, "tags", s.tags, {.count = kMaxMetricsListed});
  }
  friend bool operator==(const MetricsReply&, const MetricsReply&) = default;
};

// Without jobs that have logged none of the metrics, or that the asker may not read.
struct LatestReply {
  std::map<JobId, std::vector<metrics::MetricSummary>> jobs;
  static constexpr int kBody = 573;
  static void table(auto& s, auto&& see) {
    see(field<1>, "jobs", s.jobs, {.count = kMaxLatestJobs, .each = kMaxLatestMetrics});
  }
  friend bool operator==(const LatestReply&, const LatestReply&) = default;
};

struct DatastoresReply {
  static constexpr int kBody = 353;
  std::vector<DatastoreView> datastores;
  static void table(auto& s, auto&& see) {
    see(field<1>, "datastores", s.datastores, {.count = kMaxDatastores});
  }
  friend bool operator==(const DatastoresReply&, const DatastoresReply&) = default;
};

using ClientReply =
    std::variant<SubmitReply, JobReply, JobsDeleted, JobUpdate, JobsReply, ExplainReply,
                 EventsReply, NodesReply, EnvironmentReply, EnvironmentsReply, TokenReply,
                 StatusReply, Done, Refused, UsersReply, ProjectsReply, AuditReply, AuditVerified,
                 SecretsReply, QuotasReply, StillWatching, JobFileChecked, ComputesReply,
                 ComputeLogReply, SizesReply, UsageReply, WaitsForDisk, AssetReply, AssetsReply,
                 DatastoresReply, WaitsForData, TokensReply, MetricsReply, LatestReply>;

}  // namespace lockstep
