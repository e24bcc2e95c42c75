// The permission that each kind of request needs, and for which object. Each message has its own
// overload and there is no default, so a new message cannot be used before it is added here.

#include <fmt/format.h>

#include "common/domain/messages/no_such_job.h"
#include "launcher/api/queries/environment_queries.h"
#include "launcher/api/service.h"
#include "launcher/core/access/users.h"
#include "launcher/core/names/objects.h"

namespace lockstep::launcher {
namespace {

struct ClaimOf {
  const State& state;
  const Caller& caller;

  Object own(const std::string& project) const {
    if (const auto* attempt = std::get_if<AttemptCaller>(&caller))
      return {attempt->owner, project, false, attempt->attempt.job};
    return {name_of(caller), project};
  }
  Claim of_job(Permission permission, const JobId& id) const {
    const Job* job = state.job(id);
    if (job != nullptr) return {permission, object_of(*job), ""};
    return {permission, {}, no_such_job(id).message};
  }

  Claim operator()(const Submit& m) const {
    return {Permission::submit, own(project_of_new(state.principals(), caller, m.spec.project)),
            ""};
  }
  Claim operator()(const CancelJob& m) const { return of_job(Permission::cancel_job, m.job); }
  Claim operator()(const ShareJob& m) const { return of_job(Permission::share_job, m.job); }
  Claim operator()(const UpdateJob& m) const { return of_job(Permission::update_job, m.job); }
  Claim operator()(const ArchiveJob& m) const { return of_job(Permission::annotate_job, m.job); }
  Claim operator()(const AnnotateJob& m) const { return of_job(Permission::annotate_job, m.job); }
  // The core checks each job in the request.
  Claim operator()(const DeleteJobs& m) const {
    return {m.all_users ? Permission::delete_all_jobs : Permission::see_cluster, {}, ""};
  }
  // Each job in the answer is checked.
  Claim operator()(const ListJobs&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const ShowJob& m) const { return of_job(Permission::see_job, m.job); }
  Claim operator()(const ExplainJob& m) const { return of_job(Permission::see_job, m.job); }
  Claim operator()(const WatchJob& m) const { return of_job(Permission::see_job, m.job); }
  Claim operator()(const ListEvents& m) const { return of_job(Permission::read_job, m.job); }
  Claim operator()(const GetMetrics& m) const { return of_job(Permission::read_job, m.job); }
  // Of jobs that the caller may not read nothing is answered.
  Claim operator()(const GetLatest&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const ListNodes&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const ShowNode&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const CreateToken&) const { return {Permission::admit_nodes, {}, ""}; }
  Claim operator()(const ListTokens&) const { return {Permission::revoke_tokens, {}, ""}; }
  Claim operator()(const RevokeToken&) const { return {Permission::revoke_tokens, {}, ""}; }
  Claim operator()(const CreateCompute&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const UpdateCompute&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const DeleteCompute&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const AttachHosts&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const DetachHosts&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const StartCompute&) const { return {Permission::operate_computes, {}, ""}; }
  Claim operator()(const StopCompute&) const { return {Permission::operate_computes, {}, ""}; }
  Claim operator()(const RestartCompute&) const { return {Permission::operate_computes, {}, ""}; }
  Claim operator()(const ListComputes&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const ReadComputeLog&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const DefineSizes&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const RemoveSize&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const GrantSize&) const { return {Permission::manage_computes, {}, ""}; }
  Claim operator()(const ListSizes&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const LabelNode&) const { return {Permission::drain_nodes, {}, ""}; }
  Claim operator()(const ApproveNode&) const { return {Permission::admit_nodes, {}, ""}; }
  Claim operator()(const DrainNode&) const { return {Permission::drain_nodes, {}, ""}; }
  Claim operator()(const RemoveNode& m) const {
    return {m.now ? Permission::revoke_nodes : Permission::remove_nodes, {}, ""};
  }
  // A name that the caller may not see counts as new here; the core reports that it is taken.
  Claim to_register(const NameKey& key, const std::string& project) const {
    NameClaim claim =
        claim_to_register(state, caller, key, project_of_new(state.principals(), caller, project));
    return {claim.permission, std::move(claim.object), ""};
  }
  Claim operator()(const CreateEnvironment& m) const {
    return to_register({NameKind::environment, m.environment.spec.name}, m.project);
  }
  Claim operator()(const ShowEnvironment& m) const {
    const NameKey key{NameKind::environment, parse_environment_name(m.reference).name};
    const OwnedName* known = state.names().find(key.kind, key.name);
    // Environments of the operator's map.
    if (known == nullptr) return {Permission::see_cluster, {}, ""};
    return {Permission::see_names, Object{"", known->project, false, {}}, ""};
  }
  Claim operator()(const CreateAsset& m) const {
    return to_register({name_kind_of(kind_of(m.asset)), m.asset.name}, m.project);
  }
  Claim of_asset(Permission permission, AssetKind kind, const std::string& name) const {
    const AssetName* known = state.assets().find(kind, name);
    if (known != nullptr) return {permission, object_of(*known), ""};
    return {permission, {}, no_such_asset(state, caller, kind, name).message};
  }
  Claim operator()(const ShowAsset& m) const {
    return of_asset(Permission::see_names, m.kind, m.name);
  }
  Claim operator()(const ArchiveAsset& m) const {
    const OwnedName* name = state.names().find(name_kind_of(m.kind), m.name);
    if (name == nullptr) return of_asset(Permission::manage_names, m.kind, m.name);
    return {Permission::manage_names, object_of({name_kind_of(m.kind), m.name}, *name), ""};
  }
  // If nobody has the name, the core reports that it does not exist.
  Claim of_name(NameKind kind, const std::string& called) const {
    const NameKey key{kind, called};
    const OwnedName* name = state.names().find(kind, called);
    if (name == nullptr) return {Permission::see_cluster, {}, ""};
    return {Permission::manage_names, object_of(key, *name), ""};
  }
  Claim operator()(const ShareName& m) const { return of_name(m.kind, m.name); }
  Claim operator()(const DeleteVersions& m) const { return of_name(m.kind, m.name); }
  Claim operator()(const AnnotateVersion& m) const { return of_name(m.kind, m.name); }
  Claim operator()(const ArchiveEnvironment& m) const {
    return of_name(NameKind::environment, m.name);
  }
  // Each name in the answer is checked.
  Claim operator()(const ListAssets&) const { return {Permission::see_cluster, {}, ""}; }
  // Each datastore has its own list of users.
  Claim operator()(const ListDatastores&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const ListEnvironments&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const PruneEnvironments&) const {
    return {Permission::prune_environments, {}, ""};
  }
  Claim operator()(const GetStatus&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const Shutdown&) const { return {Permission::shut_down, {}, ""}; }
  // Everybody may ask about themselves; the core checks the rest.
  Claim operator()(const WhoAmI&) const { return {Permission::see_cluster, {}, ""}; }
  // In any project where they may submit.
  Claim where_they_submit(Permission permission) const {
    Object object = own("");
    if (const auto* attempt = std::get_if<AttemptCaller>(&caller)) {
      object.project = attempt->project;
      return {permission, std::move(object), ""};
    }
    if (const User* user = state.principals().user(object.owner))
      for (const Grant& grant : user->grants)
        if (grant.role == Role::submitter) object.project = grant.project;
    return {permission, std::move(object), ""};
  }
  // If the file names a project where they may not submit, that is an error of the file.
  Claim operator()(const CheckJobFile&) const { return where_they_submit(Permission::submit); }
  Claim operator()(const SetSecret&) const { return where_they_submit(Permission::use_secrets); }
  Claim operator()(const RemoveSecret&) const { return where_they_submit(Permission::use_secrets); }
  Claim operator()(const ListSecrets&) const { return where_they_submit(Permission::use_secrets); }
  Claim operator()(const QueryAudit&) const { return {Permission::read_audit, {}, ""}; }
  Claim operator()(const VerifyAudit&) const { return {Permission::read_audit, {}, ""}; }
  Claim operator()(const ListUsers&) const { return {Permission::manage_users, {}, ""}; }
  Claim operator()(const ListProjects&) const { return {Permission::see_cluster, {}, ""}; }
  // quota_queries decides which quotas are in the answer.
  Claim operator()(const ListQuotas&) const { return {Permission::see_cluster, {}, ""}; }
  // usage_queries decides what is in the answer.
  Claim operator()(const GetUsage&) const { return {Permission::see_cluster, {}, ""}; }
  Claim operator()(const ChangePrincipals& m) const {
    const bool about_keys =
        std::holds_alternative<AddKey>(m.change) || std::holds_alternative<RevokeKey>(m.change);
    return {about_keys ? Permission::see_cluster : Permission::manage_users, {}, ""};
  }
};

}  // namespace

Claim claim_of(const ClientRequest& request, const State& state, const Caller& caller) {
  return std::visit(ClaimOf{state, caller}, request);
}

}  // namespace lockstep::launcher
