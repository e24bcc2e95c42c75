#pragma once
// The protocol between users' programs (clients) and the launcher. The launcher accepts these
// requests only from a user's key.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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
  JobId job;
  bool with_steps = false;  // of a pipeline: spec.pipeline has its steps, for who may read the job
  friend bool operator==(const ShowJob&, const ShowJob&) = default;
};
struct ExplainJob {
  JobId job;
  std::optional<int> settings_of_rank = {};  // also the network settings of this rank
  friend bool operator==(const ExplainJob&, const ExplainJob&) = default;
};
struct ListEvents {  // of one job, oldest first
  JobId job;
  Instant since;  // only events from this time on
  friend bool operator==(const ListEvents&, const ListEvents&) = default;
};
// Answered by JobReply at once, then by a JobUpdate at each change until the job is final, with
// StillWatching messages in between.
struct WatchJob {
  JobId job;
  friend bool operator==(const WatchJob&, const WatchJob&) = default;
};
struct ListNodes {
  friend bool operator==(const ListNodes&, const ListNodes&) = default;
};
struct ShowNode {
  std::string name_or_id;
  bool history = false;  // with NodeView::history
  friend bool operator==(const ShowNode&, const ShowNode&) = default;
};
struct CreateToken {
  Duration valid_for = minutes(60);
  int uses = 1;
  Approval approval = Approval::as_configured;
  std::string compute = {};  // nodes that join with the token belong to this target; "": "local"
  friend bool operator==(const CreateToken&, const CreateToken&) = default;
};
// Of one token: what is stolen with it stays small, and so does the time in which it can be used.
inline constexpr int kMaxTokenUses = 1'000;
inline constexpr Duration kMaxTokenValidFor = minutes(30 * 24 * 60);
// Answered by TokensReply: the tokens that the launcher remembers.
struct ListTokens {
  friend bool operator==(const ListTokens&, const ListTokens&) = default;
};
// No node joins with the token any more. Nodes that have joined stay.
struct RevokeToken {
  std::string id;  // TokenView::id, or a beginning of it that only one token has
  friend bool operator==(const RevokeToken&, const RevokeToken&) = default;
};
struct DrainNode {
  std::string name_or_id;
  bool drain = true;
  std::string reason;
  friend bool operator==(const DrainNode&, const DrainNode&) = default;
};
// Sets and removes labels of one node, as `kubectl label` does.
struct LabelNode {
  std::string name_or_id;
  NodeLabels set;
  std::vector<std::string> remove;  // keys
  friend bool operator==(const LabelNode&, const LabelNode&) = default;
};
struct ApproveNode {  // a node that waits for approval may get work from now on
  std::string name_or_id;
  friend bool operator==(const ApproveNode&, const ApproveNode&) = default;
};
struct RemoveNode {  // for ever: its key is revoked, and its id is never used again
  std::string name_or_id;
  bool now = false;  // even while it is ALIVE or holds attempts, which are then given up
  friend bool operator==(const RemoveNode&, const RemoveNode&) = default;
};
// Answered by EnvironmentReply. An environment without a version gets the next free number.
// Registering the same definition again succeeds; a different one under a taken name and version is
// an error.
struct CreateEnvironment {
  RegisteredEnvironment environment;
  // The project of a new name; "": the only project that the asker may submit to, else the default
  // one.
  std::string project = {};
  friend bool operator==(const CreateEnvironment&, const CreateEnvironment&) = default;
};
// Answered by EnvironmentReply. `reference` is as in a job file, without "azureml:": NAME,
// NAME@latest, NAME:VERSION, or a registry's URL "azureml://registries/…" that is in the operator's
// map.
struct ShowEnvironment {
  std::string reference;
  friend bool operator==(const ShowEnvironment&, const ShowEnvironment&) = default;
};
struct ListEnvironments {
  std::string name;  // lists all versions of this name; "": the newest version of each name
  ArchivedToo archived = ArchivedToo::no;
  friend bool operator==(const ListEnvironments&, const ListEnvironments&) = default;
};
// Leaves versions out of lists and of @latest, or takes them back in. Jobs that name one still get
// it.
struct ArchiveEnvironment {
  std::string name;
  std::string version;   // "": all that it has
  bool archived = true;  // false: restores
  friend bool operator==(const ArchiveEnvironment&, const ArchiveEnvironment&) = default;
};
struct PruneEnvironments {  // nodes delete environments they built that were unused for so long
  Duration unused_for{0};
  friend bool operator==(const PruneEnvironments&, const PruneEnvironments&) = default;
};
struct GetStatus {
  friend bool operator==(const GetStatus&, const GetStatus&) = default;
};
struct Shutdown {  // refused while jobs run, unless cancel_jobs is set
  bool cancel_jobs = false;
  friend bool operator==(const Shutdown&, const Shutdown&) = default;
};

struct WhoAmI {  // answered by UsersReply with the asking user
  friend bool operator==(const WhoAmI&, const WhoAmI&) = default;
};
struct ListUsers {
  std::string name;  // "": all
  friend bool operator==(const ListUsers&, const ListUsers&) = default;
};
struct ListProjects {
  friend bool operator==(const ListProjects&, const ListProjects&) = default;
};
// Answered by Done.
struct ChangePrincipals {
  std::variant<AddUser, RemoveUser, SetAccount, ChangeRole, AddKey, RevokeKey, CreateProject,
               RemoveProject, SetQuota>
      change;
  friend bool operator==(const ChangePrincipals&, const ChangePrincipals&) = default;
};
// Answered by QuotasReply: the quota of `holder`; without a holder and with `all`, the quotas of
// all users and projects that have one or use something, as far as the asker may see them; else
// those of the asker and the asker's projects.
struct ListQuotas {
  std::optional<QuotaHolder> holder;
  bool all = false;
  friend bool operator==(const ListQuotas&, const ListQuotas&) = default;
};

// Answered by UsageReply: all nodes, and the jobs that hold some of them, as far as the asker may
// see them.
struct GetUsage {
  bool nodes = true, jobs = true;
  friend bool operator==(const GetUsage&, const GetUsage&) = default;
};

// Answered by MetricsReply: what the job's own run has logged, and with a name the curves of that
// metric, of each attempt and rank.
struct GetMetrics {
  JobId job;
  std::string name = {};  // "": no curves
  metrics::Axis axis = metrics::Axis::step;
  int buckets = 100;  // of each curve: 1 to metrics::kMaxBuckets
  friend bool operator==(const GetMetrics&, const GetMetrics&) = default;
};

// Answered by DatastoresReply: the datastores that the asker may use, or the one called `name`.
struct ListDatastores {
  std::string name;
  friend bool operator==(const ListDatastores&, const ListDatastores&) = default;
};

using ClientRequest = std::variant<
    Submit, CancelJob, DeleteJobs, ListJobs, ShowJob, ExplainJob, ListEvents, WatchJob, ListNodes,
    ShowNode, CreateToken, DrainNode, RemoveNode, CreateEnvironment, ShowEnvironment,
    ListEnvironments, PruneEnvironments, GetStatus, Shutdown, WhoAmI, ListUsers, ListProjects,
    ChangePrincipals, QueryAudit, VerifyAudit, SetSecret, RemoveSecret, ListSecrets, ListQuotas,
    ApproveNode, ShareJob, UpdateJob, CheckJobFile, CreateCompute, UpdateCompute, DeleteCompute,
    ListComputes, AttachHosts, DetachHosts, ReadComputeLog, DefineSizes, RemoveSize, GrantSize,
    ListSizes, LabelNode, GetUsage, StartCompute, StopCompute, RestartCompute, CreateAsset,
    ListAssets, ShowAsset, ArchiveAsset, ListDatastores, ArchiveJob, AnnotateJob, ShareName,
    DeleteVersions, ListTokens, RevokeToken, ArchiveEnvironment, AnnotateVersion, GetMetrics>;

// ---- launcher -> client ------------------------------------------------------------------------
struct SubmitReply {
  JobId job;
  bool snapshot_missing =
      false;  // not accepted: upload the snapshot over the bulk socket and submit again
  // For the person who submits: which target was chosen, and what of the job is not used.
  std::vector<std::string> notes = {};
  friend bool operator==(const SubmitReply&, const SubmitReply&) = default;
};
struct JobReply {
  JobView job;
  friend bool operator==(const JobReply&, const JobReply&) = default;
};
struct JobsDeleted {
  struct Kept {  // a job that was named and not deleted, and why
    JobId job;
    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::string project = {};  // of the job. For the audit log; in no message
    friend bool operator==(const Kept&, const Kept&) = default;
  };
  std::vector<JobId> jobs;
  std::vector<Kept> kept;
  std::int64_t more = 0;  // so many more jobs match and are not deleted yet
  // Of each of `jobs`. For the audit log; in no message.
  std::vector<std::string> projects = {};
  friend bool operator==(const JobsDeleted&, const JobsDeleted&) = default;
};
inline constexpr std::size_t kMaxDeletionsAtOnce = 1'000;
struct JobUpdate {
  JobView job;
  friend bool operator==(const JobUpdate&, const JobUpdate&) = default;
};
// Sent every kStillWatchingEvery to each connection that watches a job: all changes until now were
// sent to it. When a message cannot be sent to a connection, the launcher ends its watch. So a
// client that does not get this message watches again.
struct StillWatching {
  JobId job;
  Instant launcher_started;  // changes when the launcher process was restarted
  friend bool operator==(const StillWatching&, const StillWatching&) = default;
};
inline constexpr Duration kStillWatchingEvery = seconds(5);
struct JobsReply {
  std::vector<JobView> jobs;
  std::int64_t more = 0;       // so many older jobs match and are not in this reply
  bool more_at_least = false;  // there may be more than `more`: not all were counted
  friend bool operator==(const JobsReply&, const JobsReply&) = default;
};
struct ExplainReply {
  ExplainView explain;
  friend bool operator==(const ExplainReply&, const ExplainReply&) = default;
};
struct EventsReply {
  std::vector<JobEvent> events;
  std::uint64_t left_out = 0;  // so many events in the middle were not kept
  bool final = false;          // the job is final: no more events will follow
  friend bool operator==(const EventsReply&, const EventsReply&) = default;
};
struct NodesReply {
  std::vector<NodeView> nodes;
  friend bool operator==(const NodesReply&, const NodesReply&) = default;
};
struct EnvironmentReply {
  EnvironmentView environment;
  friend bool operator==(const EnvironmentReply&, const EnvironmentReply&) = default;
};
struct EnvironmentsReply {
  std::vector<EnvironmentView> environments;
  friend bool operator==(const EnvironmentsReply&, const EnvironmentsReply&) = default;
};
struct TokenReply {  // the text of a token file
  std::string token;
  Instant expires;
  friend bool operator==(const TokenReply&, const TokenReply&) = default;
};
struct TokensReply {
  std::vector<TokenView> tokens;  // the newest first
  friend bool operator==(const TokensReply&, const TokensReply&) = default;
};
struct StatusReply {
  LauncherStatus status;
  friend bool operator==(const StatusReply&, const StatusReply&) = default;
};
struct Done {
  std::string message;
  friend bool operator==(const Done&, const Done&) = default;
};

struct UsersReply {
  std::vector<UserView> users;
  friend bool operator==(const UsersReply&, const UsersReply&) = default;
};
struct ProjectsReply {
  std::vector<ProjectView> projects;
  friend bool operator==(const ProjectsReply&, const ProjectsReply&) = default;
};

struct QuotasReply {
  std::vector<QuotaView> quotas;
  friend bool operator==(const QuotasReply&, const QuotasReply&) = default;
};

struct UsageReply {
  std::vector<NodeUsage> nodes;
  std::vector<JobUsage> jobs;
  std::int64_t more = 0;  // so many more jobs are not in this reply
  friend bool operator==(const UsageReply&, const UsageReply&) = default;
};

// An interim reply: the request waits until the launcher's disk has taken a write. Sent about once
// a second to senders that know it, until the reply follows. The request needs no repetition.
// For how long after it the sender waits for the next reply.
inline constexpr Duration kWaitsForDiskLasts = seconds(10);
struct WaitsForDisk {
  Duration slow_for{0};  // how long the write has taken
  friend bool operator==(const WaitsForDisk&, const WaitsForDisk&) = default;
};

// An interim reply like WaitsForDisk: the request waits for data that the launcher fetches. For how
// long after it the sender waits for the next reply: kWaitsForDiskLasts.
struct WaitsForData {
  std::string what;  // "fetching azureml://datastores/lake/paths/faces: 1.2/8.0 GiB"
  friend bool operator==(const WaitsForData&, const WaitsForData&) = default;
};

// Of a job that has logged nothing all are empty.
struct MetricsReply {
  std::vector<metrics::MetricSummary> metrics;  // by name
  std::vector<metrics::Curve> curves;           // by attempt and rank; at most kMaxCurves
  std::map<std::string, std::string> params = {}, tags = {};
  friend bool operator==(const MetricsReply&, const MetricsReply&) = default;
};

struct DatastoresReply {
  std::vector<DatastoreView> datastores;
  friend bool operator==(const DatastoresReply&, const DatastoresReply&) = default;
};

using ClientReply =
    std::variant<SubmitReply, JobReply, JobsDeleted, JobUpdate, JobsReply, ExplainReply,
                 EventsReply, NodesReply, EnvironmentReply, EnvironmentsReply, TokenReply,
                 StatusReply, Done, Refused, UsersReply, ProjectsReply, AuditReply, AuditVerified,
                 SecretsReply, QuotasReply, StillWatching, JobFileChecked, ComputesReply,
                 ComputeLogReply, SizesReply, UsageReply, WaitsForDisk, AssetReply, AssetsReply,
                 DatastoresReply, WaitsForData, TokensReply, MetricsReply>;

}  // namespace lockstep
