#include "common/wire/messages/control.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "common/wire/data/asset_codec.h"
#include "common/wire/data/datastore_codec.h"
#include "common/wire/data/name_codec.h"
#include "common/wire/job/assignment_codec.h"
#include "common/wire/job/environment_codec.h"
#include "common/wire/messages/control_codec.h"
#include "common/wire/messages/job_file_codec.h"
#include "common/wire/people/access_codec.h"
#include "common/wire/people/audit_codec.h"
#include "common/wire/people/quota_codec.h"
#include "common/wire/people/secrets_codec.h"
#include "common/wire/targets/compute_codec.h"
#include "common/wire/targets/size_codec.h"
#include "common/wire/views/metrics_codec.h"
#include "common/wire/views/runs_codec.h"

namespace lockstep::wire {

namespace {

struct BodyWriter {
  pb::Envelope* wire;
  void operator()(const SessionOpen& m) const { pb::to_wire(m, wire->mutable_session_open()); }
  void operator()(const Heartbeat& m) const { pb::to_wire(m, wire->mutable_heartbeat()); }
  void operator()(const Observed& m) const { pb::to_wire(m, wire->mutable_observed()); }
  void operator()(const UsageReport& m) const { pb::to_wire(m, wire->mutable_usage_report()); }
  void operator()(const SessionAccepted& m) const {
    pb::to_wire(m, wire->mutable_session_accepted());
  }
  void operator()(const SessionRefused& m) const {
    pb::to_wire(m, wire->mutable_session_refused());
  }
  void operator()(const SessionLost& m) const { pb::to_wire(m, wire->mutable_session_lost()); }
  void operator()(const HeartbeatAck& m) const { pb::to_wire(m, wire->mutable_heartbeat_ack()); }
  void operator()(const ObservedAck& m) const { pb::to_wire(m, wire->mutable_observed_ack()); }
  void operator()(const Desired& m) const { pb::to_wire(m, wire->mutable_desired()); }
  void operator()(const Submit& m) const { pb::to_wire(m, wire->mutable_submit()); }
  void operator()(const CancelJob& m) const { pb::to_wire(m, wire->mutable_cancel_job()); }
  void operator()(const DeleteJobs& m) const { pb::to_wire(m, wire->mutable_delete_jobs()); }
  void operator()(const ShareJob& m) const { pb::to_wire(m, wire->mutable_share_job()); }
  void operator()(const UpdateJob& m) const { pb::to_wire(m, wire->mutable_update_job()); }
  void operator()(const ArchiveJob& m) const { pb::to_wire(m, wire->mutable_archive_job()); }
  void operator()(const AnnotateJob& m) const { pb::to_wire(m, wire->mutable_annotate_job()); }
  void operator()(const ListJobs& m) const { pb::to_wire(m, wire->mutable_list_jobs()); }
  void operator()(const ShowJob& m) const { pb::to_wire(m, wire->mutable_show_job()); }
  void operator()(const ExplainJob& m) const { pb::to_wire(m, wire->mutable_explain_job()); }
  void operator()(const ListEvents& m) const { pb::to_wire(m, wire->mutable_list_events()); }
  void operator()(const WatchJob& m) const { pb::to_wire(m, wire->mutable_watch_job()); }
  void operator()(const ListNodes& m) const { pb::to_wire(m, wire->mutable_list_nodes()); }
  void operator()(const ShowNode& m) const { pb::to_wire(m, wire->mutable_show_node()); }
  void operator()(const CreateToken& m) const { pb::to_wire(m, wire->mutable_create_token()); }
  void operator()(const DrainNode& m) const { pb::to_wire(m, wire->mutable_drain_node()); }
  void operator()(const ListTokens& m) const { pb::to_wire(m, wire->mutable_list_tokens()); }
  void operator()(const RevokeToken& m) const { pb::to_wire(m, wire->mutable_revoke_token()); }
  void operator()(const TokensReply& m) const { pb::to_wire(m, wire->mutable_tokens_reply()); }
  void operator()(const RemoveNode& m) const { pb::to_wire(m, wire->mutable_remove_node()); }
  void operator()(const ApproveNode& m) const { pb::to_wire(m, wire->mutable_approve_node()); }
  void operator()(const GetStatus& m) const { pb::to_wire(m, wire->mutable_get_status()); }
  void operator()(const Shutdown& m) const { pb::to_wire(m, wire->mutable_shutdown()); }
  void operator()(const CheckJobFile& m) const { pb::to_wire(m, wire->mutable_check_job_file()); }
  void operator()(const JobFileChecked& m) const {
    pb::to_wire(m, wire->mutable_job_file_checked());
  }
  void operator()(const SubmitReply& m) const { pb::to_wire(m, wire->mutable_submit_reply()); }
  void operator()(const JobReply& m) const { pb::to_wire(m, wire->mutable_job_reply()); }
  void operator()(const JobsDeleted& m) const { pb::to_wire(m, wire->mutable_jobs_deleted()); }
  void operator()(const JobUpdate& m) const { pb::to_wire(m, wire->mutable_job_update()); }
  void operator()(const WaitsForDisk& m) const { pb::to_wire(m, wire->mutable_waits_for_disk()); }
  void operator()(const StillWatching& m) const { pb::to_wire(m, wire->mutable_still_watching()); }
  void operator()(const JobsReply& m) const { pb::to_wire(m, wire->mutable_jobs_reply()); }
  void operator()(const ExplainReply& m) const { pb::to_wire(m, wire->mutable_explain_reply()); }
  void operator()(const EventsReply& m) const { pb::to_wire(m, wire->mutable_events_reply()); }
  void operator()(const NodesReply& m) const { pb::to_wire(m, wire->mutable_nodes_reply()); }
  void operator()(const TokenReply& m) const { pb::to_wire(m, wire->mutable_token_reply()); }
  void operator()(const StatusReply& m) const { pb::to_wire(m, wire->mutable_status_reply()); }
  void operator()(const Done& m) const { pb::to_wire(m, wire->mutable_done()); }
  void operator()(const Refused& m) const { pb::to_wire(m, wire->mutable_refused()); }
  void operator()(const JoinRequest& m) const { pb::to_wire(m, wire->mutable_join_request()); }
  void operator()(const AskAboutKey& m) const { pb::to_wire(m, wire->mutable_ask_about_key()); }
  void operator()(const KeyStanding& m) const { pb::to_wire(m, wire->mutable_key_standing()); }
  void operator()(const JoinAccepted& m) const { pb::to_wire(m, wire->mutable_join_accepted()); }
  void operator()(const JoinRefused& m) const { pb::to_wire(m, wire->mutable_join_refused()); }
  void operator()(const AllowPeers& m) const { pb::to_wire(m, wire->mutable_allow_peers()); }
  void operator()(const AttachWanted& m) const { pb::to_wire(m, wire->mutable_attach_wanted()); }
  void operator()(const LauncherAddresses& m) const {
    pb::to_wire(m, wire->mutable_launcher_addresses());
  }
  void operator()(const CreateEnvironment& m) const {
    pb::to_wire(m, wire->mutable_create_environment());
  }
  void operator()(const ShowEnvironment& m) const {
    pb::to_wire(m, wire->mutable_show_environment());
  }
  void operator()(const ListEnvironments& m) const {
    pb::to_wire(m, wire->mutable_list_environments());
  }
  void operator()(const PruneEnvironments& m) const {
    pb::to_wire(m, wire->mutable_prune_environments());
  }
  void operator()(const WhoAmI& m) const { pb::to_wire(m, wire->mutable_who_am_i()); }
  void operator()(const ListUsers& m) const { pb::to_wire(m, wire->mutable_list_users()); }
  void operator()(const ListProjects& m) const { pb::to_wire(m, wire->mutable_list_projects()); }
  void operator()(const ChangePrincipals& m) const {
    pb::to_wire(m, wire->mutable_change_principals());
  }
  void operator()(const SetSecret& m) const { pb::to_wire(m, wire->mutable_set_secret()); }
  void operator()(const RemoveSecret& m) const { pb::to_wire(m, wire->mutable_remove_secret()); }
  void operator()(const ListSecrets& m) const { pb::to_wire(m, wire->mutable_list_secrets()); }
  void operator()(const SecretsReply& m) const { pb::to_wire(m, wire->mutable_secrets_reply()); }
  void operator()(const UsersReply& m) const { pb::to_wire(m, wire->mutable_users_reply()); }
  void operator()(const ProjectsReply& m) const { pb::to_wire(m, wire->mutable_projects_reply()); }
  void operator()(const ListQuotas& m) const { pb::to_wire(m, wire->mutable_list_quotas()); }
  void operator()(const CreateCompute& m) const { pb::to_wire(m, wire->mutable_create_compute()); }
  void operator()(const UpdateCompute& m) const { pb::to_wire(m, wire->mutable_update_compute()); }
  void operator()(const AttachHosts& m) const { pb::to_wire(m, wire->mutable_attach_hosts()); }
  void operator()(const DetachHosts& m) const { pb::to_wire(m, wire->mutable_detach_hosts()); }
  void operator()(const DeleteCompute& m) const { pb::to_wire(m, wire->mutable_delete_compute()); }
  void operator()(const StartCompute& m) const { pb::to_wire(m, wire->mutable_start_compute()); }
  void operator()(const StopCompute& m) const { pb::to_wire(m, wire->mutable_stop_compute()); }
  void operator()(const RestartCompute& m) const {
    pb::to_wire(m, wire->mutable_restart_compute());
  }
  void operator()(const ListComputes& m) const { pb::to_wire(m, wire->mutable_list_computes()); }
  void operator()(const ComputesReply& m) const { pb::to_wire(m, wire->mutable_computes_reply()); }
  void operator()(const DefineSizes& m) const { pb::to_wire(m, wire->mutable_define_sizes()); }
  void operator()(const RemoveSize& m) const { pb::to_wire(m, wire->mutable_remove_size()); }
  void operator()(const GrantSize& m) const { pb::to_wire(m, wire->mutable_grant_size()); }
  void operator()(const ListSizes& m) const { pb::to_wire(m, wire->mutable_list_sizes()); }
  void operator()(const SizesReply& m) const { pb::to_wire(m, wire->mutable_sizes_reply()); }
  void operator()(const LabelNode& m) const { pb::to_wire(m, wire->mutable_label_node()); }
  void operator()(const ReadComputeLog& m) const {
    pb::to_wire(m, wire->mutable_read_compute_log());
  }
  void operator()(const ComputeLogReply& m) const {
    pb::to_wire(m, wire->mutable_compute_log_reply());
  }
  void operator()(const GetMetrics& m) const { pb::to_wire(m, wire->mutable_get_metrics()); }
  void operator()(const MetricsReply& m) const { pb::to_wire(m, wire->mutable_metrics_reply()); }
  void operator()(const GetUsage& m) const { pb::to_wire(m, wire->mutable_get_usage()); }
  void operator()(const UsageReply& m) const { pb::to_wire(m, wire->mutable_usage_reply()); }
  void operator()(const QuotasReply& m) const { pb::to_wire(m, wire->mutable_quotas_reply()); }
  void operator()(const QueryAudit& m) const { pb::to_wire(m, wire->mutable_query_audit()); }
  void operator()(const VerifyAudit& m) const { pb::to_wire(m, wire->mutable_verify_audit()); }
  void operator()(const AuditReply& m) const { pb::to_wire(m, wire->mutable_audit_reply()); }
  void operator()(const AuditVerified& m) const { pb::to_wire(m, wire->mutable_audit_verified()); }
  void operator()(const CreateAsset& m) const { pb::to_wire(m, wire->mutable_create_asset()); }
  void operator()(const ListAssets& m) const { pb::to_wire(m, wire->mutable_list_assets()); }
  void operator()(const ShowAsset& m) const { pb::to_wire(m, wire->mutable_show_asset()); }
  void operator()(const ArchiveAsset& m) const { pb::to_wire(m, wire->mutable_archive_asset()); }
  void operator()(const ShareName& m) const { pb::to_wire(m, wire->mutable_share_name()); }
  void operator()(const ArchiveEnvironment& m) const {
    pb::to_wire(m, wire->mutable_archive_environment());
  }
  void operator()(const AnnotateVersion& m) const {
    pb::to_wire(m, wire->mutable_annotate_version());
  }
  void operator()(const DeleteVersions& m) const {
    pb::to_wire(m, wire->mutable_delete_versions());
  }
  void operator()(const ListDatastores& m) const {
    pb::to_wire(m, wire->mutable_list_datastores());
  }
  void operator()(const DatastoresReply& m) const {
    pb::to_wire(m, wire->mutable_datastores_reply());
  }
  void operator()(const WaitsForData& m) const { pb::to_wire(m, wire->mutable_waits_for_data()); }
  void operator()(const AssetReply& m) const { pb::to_wire(m, wire->mutable_asset_reply()); }
  void operator()(const AssetsReply& m) const { pb::to_wire(m, wire->mutable_assets_reply()); }
  void operator()(const EnvironmentReply& m) const {
    pb::to_wire(m, wire->mutable_environment_reply());
  }
  void operator()(const EnvironmentsReply& m) const {
    pb::to_wire(m, wire->mutable_environments_reply());
  }
};

template <typename T, typename Variant>
inline constexpr bool kHolds = false;
template <typename T, typename... Types>
inline constexpr bool kHolds<T, std::variant<Types...>> = (std::is_same_v<T, Types> || ...);

template <typename Body>
inline constexpr bool kIsReply =
    std::is_same_v<Body, ClientReply> || std::is_same_v<Body, AgentReply> ||
    std::is_same_v<Body, JoinReply>;

// What is not of the protocol is refused unread. Who awaits a reply has asked: what comes instead
// is another port's.
template <typename T, typename Wire, typename Body>
Status read(const Wire& from, Body* body) {
  if constexpr (kHolds<T, Body>) {
    return pb::from_wire(from, &body->template emplace<T>());
  } else if constexpr (kIsReply<Body>) {
    return make_error(ErrorCode::corrupt,
                      "is no answer to such a request; the address may be that of another port of "
                      "the launcher: PORT of `lockstepd --listen` is for commands and nodes, PORT "
                      "+ 1 for files and logs, PORT + 2 for joining");
  } else if constexpr (kHolds<T, AgentMessage>) {
    return make_error(ErrorCode::permission_denied, "only a node may send this message");
  } else if constexpr (kHolds<T, ClientRequest>) {
    return make_error(ErrorCode::permission_denied, "only a user may send this request");
  } else if constexpr (kHolds<T, JoinMessage>) {
    return make_error(ErrorCode::permission_denied,
                      "a join request must be sent to the join endpoint");
  } else {
    return make_error(ErrorCode::invalid_argument,
                      "a launcher does not accept this kind of message");
  }
}

template <typename Body>
Status read_body(const pb::Envelope& wire, Body* body) {
  switch (wire.body_case()) {
    case pb::Envelope::kSessionOpen: return read<SessionOpen>(wire.session_open(), body);
    case pb::Envelope::kHeartbeat: return read<Heartbeat>(wire.heartbeat(), body);
    case pb::Envelope::kObserved: return read<Observed>(wire.observed(), body);
    case pb::Envelope::kUsageReport: return read<UsageReport>(wire.usage_report(), body);
    case pb::Envelope::kGetMetrics: return read<GetMetrics>(wire.get_metrics(), body);
    case pb::Envelope::kMetricsReply: return read<MetricsReply>(wire.metrics_reply(), body);
    case pb::Envelope::kGetUsage: return read<GetUsage>(wire.get_usage(), body);
    case pb::Envelope::kUsageReply: return read<UsageReply>(wire.usage_reply(), body);
    case pb::Envelope::kSessionAccepted:
      return read<SessionAccepted>(wire.session_accepted(), body);
    case pb::Envelope::kSessionRefused: return read<SessionRefused>(wire.session_refused(), body);
    case pb::Envelope::kSessionLost: return read<SessionLost>(wire.session_lost(), body);
    case pb::Envelope::kHeartbeatAck: return read<HeartbeatAck>(wire.heartbeat_ack(), body);
    case pb::Envelope::kObservedAck: return read<ObservedAck>(wire.observed_ack(), body);
    case pb::Envelope::kDesired: return read<Desired>(wire.desired(), body);
    case pb::Envelope::kSubmit: return read<Submit>(wire.submit(), body);
    case pb::Envelope::kCancelJob: return read<CancelJob>(wire.cancel_job(), body);
    case pb::Envelope::kDeleteJobs: return read<DeleteJobs>(wire.delete_jobs(), body);
    case pb::Envelope::kShareJob: return read<ShareJob>(wire.share_job(), body);
    case pb::Envelope::kUpdateJob: return read<UpdateJob>(wire.update_job(), body);
    case pb::Envelope::kArchiveJob: return read<ArchiveJob>(wire.archive_job(), body);
    case pb::Envelope::kAnnotateJob: return read<AnnotateJob>(wire.annotate_job(), body);
    case pb::Envelope::kListJobs: return read<ListJobs>(wire.list_jobs(), body);
    case pb::Envelope::kShowJob: return read<ShowJob>(wire.show_job(), body);
    case pb::Envelope::kExplainJob: return read<ExplainJob>(wire.explain_job(), body);
    case pb::Envelope::kWatchJob: return read<WatchJob>(wire.watch_job(), body);
    case pb::Envelope::kListNodes: return read<ListNodes>(wire.list_nodes(), body);
    case pb::Envelope::kShowNode: return read<ShowNode>(wire.show_node(), body);
    case pb::Envelope::kCreateToken: return read<CreateToken>(wire.create_token(), body);
    case pb::Envelope::kDrainNode: return read<DrainNode>(wire.drain_node(), body);
    case pb::Envelope::kListTokens: return read<ListTokens>(wire.list_tokens(), body);
    case pb::Envelope::kRevokeToken: return read<RevokeToken>(wire.revoke_token(), body);
    case pb::Envelope::kTokensReply: return read<TokensReply>(wire.tokens_reply(), body);
    case pb::Envelope::kRemoveNode: return read<RemoveNode>(wire.remove_node(), body);
    case pb::Envelope::kApproveNode: return read<ApproveNode>(wire.approve_node(), body);
    case pb::Envelope::kGetStatus: return read<GetStatus>(wire.get_status(), body);
    case pb::Envelope::kShutdown: return read<Shutdown>(wire.shutdown(), body);
    case pb::Envelope::kCheckJobFile: return read<CheckJobFile>(wire.check_job_file(), body);
    case pb::Envelope::kJobFileChecked: return read<JobFileChecked>(wire.job_file_checked(), body);
    case pb::Envelope::kSubmitReply: return read<SubmitReply>(wire.submit_reply(), body);
    case pb::Envelope::kJobReply: return read<JobReply>(wire.job_reply(), body);
    case pb::Envelope::kJobsDeleted: return read<JobsDeleted>(wire.jobs_deleted(), body);
    case pb::Envelope::kJobUpdate: return read<JobUpdate>(wire.job_update(), body);
    case pb::Envelope::kWaitsForDisk: return read<WaitsForDisk>(wire.waits_for_disk(), body);
    case pb::Envelope::kStillWatching: return read<StillWatching>(wire.still_watching(), body);
    case pb::Envelope::kJobsReply: return read<JobsReply>(wire.jobs_reply(), body);
    case pb::Envelope::kListEvents: return read<ListEvents>(wire.list_events(), body);
    case pb::Envelope::kEventsReply: return read<EventsReply>(wire.events_reply(), body);
    case pb::Envelope::kExplainReply: return read<ExplainReply>(wire.explain_reply(), body);
    case pb::Envelope::kNodesReply: return read<NodesReply>(wire.nodes_reply(), body);
    case pb::Envelope::kTokenReply: return read<TokenReply>(wire.token_reply(), body);
    case pb::Envelope::kStatusReply: return read<StatusReply>(wire.status_reply(), body);
    case pb::Envelope::kDone: return read<Done>(wire.done(), body);
    case pb::Envelope::kRefused: return read<Refused>(wire.refused(), body);
    case pb::Envelope::kJoinRequest: return read<JoinRequest>(wire.join_request(), body);
    case pb::Envelope::kAskAboutKey: return read<AskAboutKey>(wire.ask_about_key(), body);
    case pb::Envelope::kKeyStanding: return read<KeyStanding>(wire.key_standing(), body);
    case pb::Envelope::kJoinAccepted: return read<JoinAccepted>(wire.join_accepted(), body);
    case pb::Envelope::kJoinRefused: return read<JoinRefused>(wire.join_refused(), body);
    case pb::Envelope::kAllowPeers: return read<AllowPeers>(wire.allow_peers(), body);
    case pb::Envelope::kAttachWanted: return read<AttachWanted>(wire.attach_wanted(), body);
    case pb::Envelope::kLauncherAddresses:
      return read<LauncherAddresses>(wire.launcher_addresses(), body);
    case pb::Envelope::kCreateEnvironment:
      return read<CreateEnvironment>(wire.create_environment(), body);
    case pb::Envelope::kShowEnvironment:
      return read<ShowEnvironment>(wire.show_environment(), body);
    case pb::Envelope::kListEnvironments:
      return read<ListEnvironments>(wire.list_environments(), body);
    case pb::Envelope::kPruneEnvironments:
      return read<PruneEnvironments>(wire.prune_environments(), body);
    case pb::Envelope::kEnvironmentReply:
      return read<EnvironmentReply>(wire.environment_reply(), body);
    case pb::Envelope::kEnvironmentsReply:
      return read<EnvironmentsReply>(wire.environments_reply(), body);
    case pb::Envelope::kCreateAsset: return read<CreateAsset>(wire.create_asset(), body);
    case pb::Envelope::kListAssets: return read<ListAssets>(wire.list_assets(), body);
    case pb::Envelope::kShowAsset: return read<ShowAsset>(wire.show_asset(), body);
    case pb::Envelope::kArchiveAsset: return read<ArchiveAsset>(wire.archive_asset(), body);
    case pb::Envelope::kShareName: return read<ShareName>(wire.share_name(), body);
    case pb::Envelope::kArchiveEnvironment:
      return read<ArchiveEnvironment>(wire.archive_environment(), body);
    case pb::Envelope::kAnnotateVersion:
      return read<AnnotateVersion>(wire.annotate_version(), body);
    case pb::Envelope::kDeleteVersions: return read<DeleteVersions>(wire.delete_versions(), body);
    case pb::Envelope::kListDatastores: return read<ListDatastores>(wire.list_datastores(), body);
    case pb::Envelope::kDatastoresReply:
      return read<DatastoresReply>(wire.datastores_reply(), body);
    case pb::Envelope::kWaitsForData: return read<WaitsForData>(wire.waits_for_data(), body);
    case pb::Envelope::kAssetReply: return read<AssetReply>(wire.asset_reply(), body);
    case pb::Envelope::kAssetsReply: return read<AssetsReply>(wire.assets_reply(), body);
    case pb::Envelope::kWhoAmI: return read<WhoAmI>(wire.who_am_i(), body);
    case pb::Envelope::kListUsers: return read<ListUsers>(wire.list_users(), body);
    case pb::Envelope::kSetSecret: return read<SetSecret>(wire.set_secret(), body);
    case pb::Envelope::kRemoveSecret: return read<RemoveSecret>(wire.remove_secret(), body);
    case pb::Envelope::kListSecrets: return read<ListSecrets>(wire.list_secrets(), body);
    case pb::Envelope::kSecretsReply: return read<SecretsReply>(wire.secrets_reply(), body);
    case pb::Envelope::kListProjects: return read<ListProjects>(wire.list_projects(), body);
    case pb::Envelope::kChangePrincipals:
      return read<ChangePrincipals>(wire.change_principals(), body);
    case pb::Envelope::kUsersReply: return read<UsersReply>(wire.users_reply(), body);
    case pb::Envelope::kProjectsReply: return read<ProjectsReply>(wire.projects_reply(), body);
    case pb::Envelope::kListQuotas: return read<ListQuotas>(wire.list_quotas(), body);
    case pb::Envelope::kCreateCompute: return read<CreateCompute>(wire.create_compute(), body);
    case pb::Envelope::kUpdateCompute: return read<UpdateCompute>(wire.update_compute(), body);
    case pb::Envelope::kAttachHosts: return read<AttachHosts>(wire.attach_hosts(), body);
    case pb::Envelope::kDetachHosts: return read<DetachHosts>(wire.detach_hosts(), body);
    case pb::Envelope::kDeleteCompute: return read<DeleteCompute>(wire.delete_compute(), body);
    case pb::Envelope::kStartCompute: return read<StartCompute>(wire.start_compute(), body);
    case pb::Envelope::kStopCompute: return read<StopCompute>(wire.stop_compute(), body);
    case pb::Envelope::kRestartCompute: return read<RestartCompute>(wire.restart_compute(), body);
    case pb::Envelope::kListComputes: return read<ListComputes>(wire.list_computes(), body);
    case pb::Envelope::kComputesReply: return read<ComputesReply>(wire.computes_reply(), body);
    case pb::Envelope::kReadComputeLog: return read<ReadComputeLog>(wire.read_compute_log(), body);
    case pb::Envelope::kComputeLogReply:
      return read<ComputeLogReply>(wire.compute_log_reply(), body);
    case pb::Envelope::kDefineSizes: return read<DefineSizes>(wire.define_sizes(), body);
    case pb::Envelope::kRemoveSize: return read<RemoveSize>(wire.remove_size(), body);
    case pb::Envelope::kGrantSize: return read<GrantSize>(wire.grant_size(), body);
    case pb::Envelope::kListSizes: return read<ListSizes>(wire.list_sizes(), body);
    case pb::Envelope::kSizesReply: return read<SizesReply>(wire.sizes_reply(), body);
    case pb::Envelope::kLabelNode: return read<LabelNode>(wire.label_node(), body);
    case pb::Envelope::kQuotasReply: return read<QuotasReply>(wire.quotas_reply(), body);
    case pb::Envelope::kQueryAudit: return read<QueryAudit>(wire.query_audit(), body);
    case pb::Envelope::kVerifyAudit: return read<VerifyAudit>(wire.verify_audit(), body);
    case pb::Envelope::kAuditReply: return read<AuditReply>(wire.audit_reply(), body);
    case pb::Envelope::kAuditVerified: return read<AuditVerified>(wire.audit_verified(), body);
    case pb::Envelope::BODY_NOT_SET: break;
  }
  return pb::bad_field("body", "is missing or of a kind that this version does not know");
}

template <typename Body>
void write_head(const Envelope<Body>& envelope, pb::Envelope* wire) {
  wire->set_version(envelope.version);
  wire->set_sequence(envelope.sequence);
  wire->set_reply_to(envelope.reply_to);
  wire->set_deadline_ms(envelope.deadline_ms);
  wire->set_takes_waits(envelope.takes_waits);
}

void append_varint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) *out += static_cast<char>(value | 0x80);
  *out += static_cast<char>(value);
}

// A message that is a field of another, behind what of the other is written already.
void append_field(int number, std::string_view message, std::string* out) {
  constexpr std::uint64_t kLengthDelimited = 2;
  append_varint(static_cast<std::uint64_t>(number) << 3 | kLengthDelimited, out);
  append_varint(message.size(), out);
  *out += message;
}

}  // namespace

template <typename Body>
std::string encode(const Envelope<Body>& envelope) {
  pb::Envelope wire;
  write_head(envelope, &wire);
  std::visit(BodyWriter{&wire}, envelope.body);
  return pb::serialize(wire);
}

std::string DesiredEncoder::encode(Envelope<AgentReply> envelope) {
  Desired& body = std::get<Desired>(envelope.body);
  pb::DesiredState state_head;
  state_head.set_revision(body.desired.revision);
  state_head.set_environments_unused_since_ns(body.desired.environments_unused_since.ns);
  std::string state = pb::serialize(state_head);
  for (Assignment& assignment : body.desired.assignments) {
    const auto gang = std::exchange(assignment.gang, {});
    pb::Assignment wire;
    pb::to_wire(assignment, &wire);
    std::string bytes = pb::serialize(wire);
    if (gang) {
      std::string& table = gangs_[assignment.attempt];
      if (table.empty()) {
        pb::to_wire(*gang, wire.mutable_gang());
        table = pb::serialize(wire.gang());
      }
      append_field(pb::Assignment::kGangFieldNumber, table, &bytes);
    }
    append_field(pb::DesiredState::kAssignmentsFieldNumber, bytes, &state);
  }
  pb::Desired desired_head;
  desired_head.set_session(body.session.value);
  std::string desired = pb::serialize(desired_head);
  append_field(pb::Desired::kDesiredFieldNumber, state, &desired);
  pb::Envelope head;
  write_head(envelope, &head);
  std::string bytes = pb::serialize(head);
  append_field(pb::Envelope::kDesiredFieldNumber, desired, &bytes);
  return bytes;
}

template <typename Body>
Result<Envelope<Body>> decode_envelope(std::string_view bytes) {
  pb::Envelope wire;
  TRY(pb::parse(bytes, kMaxControlMessageBytes, "control message", &wire));
  TRY(pb::check_version(wire.version(), kProtocolVersion, "control message"));
  Envelope<Body> envelope;
  envelope.version = wire.version();
  envelope.sequence = wire.sequence();
  envelope.reply_to = wire.reply_to();
  constexpr std::int64_t kMaxWaitMs = std::int64_t{100} * 366 * 86'400'000;
  if (wire.deadline_ms() < 0 || wire.deadline_ms() > kMaxWaitMs)
    return pb::bad_field("deadline_ms", "is negative or beyond 100 years");
  envelope.deadline_ms = wire.deadline_ms();
  envelope.takes_waits = wire.takes_waits();
  TRY(read_body(wire, &envelope.body));
  return envelope;
}

std::string join_refusal_of_any_version(std::string_view bytes) {
  pb::Envelope wire;
  if (!pb::parse(bytes, kMaxJoinMessageBytes, "control message", &wire)) return "";
  if (wire.body_case() != pb::Envelope::kJoinRefused) return "";
  lockstep::JoinRefused refused;
  return pb::from_wire(wire.join_refused(), &refused) ? refused.reason : "";
}

// The head's fields come first, and are read without the rest, which may be large and is of no use.
std::optional<std::uint64_t> peek_sequence(std::string_view bytes) {
  constexpr std::size_t kHeadBytes = 4 * 11;  // at most: tags of one byte, varints of ten
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            static_cast<int>(std::min(bytes.size(), kHeadBytes)));
  std::optional<std::uint64_t> sequence;
  for (std::uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    const bool is_varint = (tag & 7) == 0;
    std::uint64_t value = 0;
    if (!is_varint || !in.ReadVarint64(&value)) break;
    if (tag >> 3 == pb::Envelope::kVersionFieldNumber && !sequence) sequence = 0;
    if (tag >> 3 == pb::Envelope::kSequenceFieldNumber) sequence = value;
  }
  return sequence;
}

template std::string encode(const Envelope<AgentMessage>&);
template std::string encode(const Envelope<AgentReply>&);
template std::string encode(const Envelope<ClientRequest>&);
template std::string encode(const Envelope<ClientReply>&);
template std::string encode(const Envelope<JoinMessage>&);
template std::string encode(const Envelope<JoinReply>&);
template Result<Envelope<AgentMessage>> decode_envelope(std::string_view);
template Result<Envelope<AgentReply>> decode_envelope(std::string_view);
template Result<Envelope<ClientRequest>> decode_envelope(std::string_view);
template Result<Envelope<ClientReply>> decode_envelope(std::string_view);
template Result<Envelope<JoinMessage>> decode_envelope(std::string_view);
template Result<Envelope<JoinReply>> decode_envelope(std::string_view);

}  // namespace lockstep::wire
