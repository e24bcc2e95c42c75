// What the service does for each request of a client, once the caller's permission was checked.

#include <fmt/format.h>

#include <functional>
#include <set>
#include <utility>

#include "launcher/api/queries/asset_queries.h"
#include "launcher/api/queries/queries.h"
#include "launcher/api/queries/quota_queries.h"
#include "launcher/api/queries/usage_queries.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/api/service.h"
#include "launcher/core/access/user_changes.h"
#include "launcher/core/base/no_such.h"
#include "launcher/core/targets/size_requests.h"

namespace lockstep::launcher {

namespace {

UserView view_of(const User& user) {
  UserView view{user.name, user.account, {user.grants.begin(), user.grants.end()},
                {},        user.added,   user.by};
  for (const auto& [key, known] : user.keys) view.keys.push_back({key, known.added, known.by});
  return view;
}

}  // namespace

struct RequestHandler {
  Service& service;
  const Asker& asker;

  void operator()(Submit& m) const { service.submit(asker, std::move(m)); }
  void operator()(CheckJobFile& m) const { service.check_file(asker, std::move(m)); }
  void operator()(const CancelJob& m) const { feed(CancelInput{expect(), m.job, asker.caller}); }
  void operator()(const ShareJob& m) const {
    feed(ShareInput{expect(), m.job, m.shared, asker.caller});
  }
  void operator()(const UpdateJob& m) const {
    feed(UpdateJobInput{expect(), m.job, m.priority, asker.caller});
  }
  void operator()(const ArchiveJob& m) const { feed(ArchiveJobInput{expect(), m, asker.caller}); }
  void operator()(const AnnotateJob& m) const { feed(AnnotateJobInput{expect(), m, asker.caller}); }
  void operator()(const DrainNode& m) const {
    feed(DrainInput{expect(), m.name_or_id, m.drain, m.reason, asker.caller});
  }
  void operator()(const ApproveNode& m) const {
    feed(ApproveNodeInput{expect(), m.name_or_id, asker.caller});
  }
  void operator()(const RemoveNode& m) const {
    feed(RemoveNodeInput{expect(), m.name_or_id, asker.caller, m.now});
  }
  void operator()(const Shutdown& m) const {
    feed(ShutdownInput{expect(), m.cancel_jobs, asker.caller});
  }
  void operator()(const CreateToken& m) const {
    NewToken token = service.ports_.launcher.make_token(m.valid_for);
    const Instant expires = token.reply.expires;
    feed(TokenInput{service.expect_reply(asker, std::move(token.reply)), token.secret_hash, expires,
                    m.uses, asker.caller, m.approval, m.compute});
  }
  void operator()(const ListTokens& m) const { question(m); }
  void operator()(const RevokeToken& m) const {
    feed(RevokeTokenInput{expect(), m.id, asker.caller});
  }
  void operator()(const WatchJob& m) const {
    const Job* job = service.state().job(m.job);
    if (job != nullptr && !is_final(job->status()))
      if (const Status added = service.watch(asker, m.job); !added)
        return service.refuse(asker, added.error().code, added.error().message);
    question(m);
  }
  void operator()(const DeleteJobs& m) const {
    feed(DeleteInput{expect(), m.jobs, m.all_final, m.older_than, asker.caller, m.all_users});
  }
  void operator()(CreateEnvironment& m) const { service.create_environment(asker, std::move(m)); }
  void operator()(CreateAsset& m) const { service.create_asset(asker, std::move(m)); }
  void operator()(const ArchiveAsset& m) const {
    feed(ArchiveAssetInput{expect(), m, asker.caller});
  }
  void operator()(const ArchiveEnvironment& m) const {
    feed(ArchiveEnvironmentInput{expect(), m, asker.caller});
  }
  void operator()(const AnnotateVersion& m) const {
    feed(AnnotateVersionInput{expect(), m, asker.caller});
  }
  void operator()(const ShareName& m) const { feed(ShareNameInput{expect(), m, asker.caller}); }
  void operator()(const DeleteVersions& m) const {
    feed(DeleteVersionsInput{expect(), m, asker.caller});
  }
  void operator()(const ShowAsset& m) const {
    service.reply(asker, show_asset(service.state(), asker.caller, m));
  }
  void operator()(const ListAssets& m) const {
    service.reply(asker, list_assets(service.state(), asker.caller, m));
  }
  void operator()(const ListDatastores& m) const {
    service.reply(asker, list_datastores(service.state(), asker.caller,
                                         service.ports_.files.datastores(), m));
  }
  void operator()(const PruneEnvironments& m) const {
    feed(PruneEnvironmentsInput{expect(), m.unused_for, asker.caller});
  }
  void operator()(const ShowEnvironment& m) const {
    service.reply(asker, service.environment_called(m.reference, asker.caller));
  }
  void operator()(const ListEnvironments& m) const { question(m); }
  void operator()(const ListJobs& m) const { question(m); }
  void operator()(const ShowJob& m) const { question(m); }
  void operator()(const ExplainJob& m) const {
    Asker noted = asker;
    ClientReply reply = answer_of(m, &noted);
    auto* explained = std::get_if<ExplainReply>(&reply);
    if (explained == nullptr) return service.reply(noted, std::move(reply));
    service.explain(noted, std::move(*explained));
  }
  void operator()(const ListEvents& m) const { question(m); }
  void operator()(const GetMetrics& m) const { service.ports_.metrics.get(m, later()); }
  void operator()(GetLatest& m) const {
    const Viewer viewer(service.state(), asker.caller);
    Asker noted = asker;
    std::set<std::string> owners;
    std::erase_if(m.jobs, [&](const JobId& id) {
      const Job* const job = service.state().job(id);
      if (job == nullptr || !viewer.reads(*job)) return true;
      if (viewer.is_audited(*job)) owners.insert(job->spec.submitter);
      return false;
    });
    note_owners(owners, &noted.asked);
    service.ports_.metrics.latest(m, later(noted));
  }
  void operator()(const ListNodes& m) const { question(m); }
  void operator()(const ShowNode& m) const { question(m); }
  void operator()(const GetStatus& m) const { question(m); }
  void operator()(const ChangePrincipals& m) const {
    feed(PrincipalInput{expect(), m.change, asker.caller});
  }
  void operator()(const SetSecret& m) const {
    if (const auto low = service.ports_.launcher.low_space(); !low.empty())
      return service.refuse(asker, ErrorCode::resource_exhausted, low);
    const Status set = service.ports_.secrets.set(name_of(asker.caller), m.name, m.value);
    answer_change(set, fmt::format("the secret '{}' is set", m.name));
  }
  void operator()(const RemoveSecret& m) const {
    const Status removed = service.ports_.secrets.remove(name_of(asker.caller), m.name);
    answer_change(removed, fmt::format("the secret '{}' is removed", m.name));
  }
  void operator()(const ListSecrets&) const {
    auto listed = service.ports_.secrets.list(name_of(asker.caller));
    if (!listed) return service.refuse(asker, listed.error().code, listed.error().message);
    service.reply(asker, SecretsReply{*std::move(listed)});
  }
  void answer_change(const Status& changed, std::string done) const {
    if (!changed) return service.refuse(asker, changed.error().code, changed.error().message);
    service.reply(asker, Done{std::move(done)});
  }
  void operator()(const WhoAmI&) const {
    UsersReply reply;
    if (const User* user = service.state().principals().user(name_of(asker.caller)))
      reply.users.push_back(view_of(*user));
    service.reply(asker, std::move(reply));
  }
  void operator()(const ListUsers& m) const {
    UsersReply reply;
    const std::string wanted = current_user_name(service.state().principals(), m.name);
    for (const auto& [name, user] : service.state().principals().users())
      if (m.name.empty() || wanted == name) reply.users.push_back(view_of(user));
    if (!m.name.empty() && reply.users.empty())
      return service.refuse(
          asker, ErrorCode::not_found,
          fmt::format("there is no user '{}'; `lockstep user list` shows all", m.name));
    service.reply(asker, std::move(reply));
  }
  void operator()(const CreateCompute& m) const { change_compute(m); }
  void operator()(const UpdateCompute& m) const { change_compute(m); }
  void operator()(const DeleteCompute& m) const { change_compute(m); }
  void operator()(const AttachHosts& m) const { change_compute(m); }
  void operator()(const DetachHosts& m) const { change_compute(m); }
  void operator()(const StartCompute& m) const { switch_instance(m); }
  void operator()(const StopCompute& m) const { switch_instance(m); }
  void operator()(const RestartCompute& m) const { switch_instance(m); }
  void operator()(const ListComputes& m) const {
    const Viewer viewer(service.state(), asker.caller);
    ComputesReply reply{viewer.cut(service.core().compute_views(m.name, m.history))};
    if (reply.computes.empty()) {
      const Error error = no_such_compute(service.state(), m.name);
      return service.refuse(asker, error.code, error.message);
    }
    service.reply(asker, std::move(reply));
  }
  void operator()(const ReadComputeLog& m) const {
    std::string text;
    if (check_compute_name(m.name)) text = service.ports_.launcher.compute_log(m.name, m.lines);
    if (text.empty() && !service.state().computes().has(m.name)) {
      const Error error = no_such_compute(service.state(), m.name);
      return service.refuse(asker, error.code, error.message);
    }
    service.reply(asker, ComputeLogReply{std::move(text)});
  }
  void switch_instance(const InstanceInput::Ask& ask) const {
    feed(InstanceInput{expect(), ask, asker.caller});
  }
  void change_compute(const ComputeInput::Ask& ask) const {
    feed(ComputeInput{expect(), ask, asker.caller});
  }
  void operator()(const DefineSizes& m) const { change_size(m); }
  void operator()(const RemoveSize& m) const { change_size(m); }
  void operator()(const GrantSize& m) const { change_size(m); }
  void operator()(const ListSizes& m) const {
    std::vector<std::string> names;
    if (!m.name.empty()) names.push_back(m.name);
    SizesReply reply{service.core().size_views(names), {}};
    if (names.empty()) reply.series = service.core().config().catalogue.series;
    if (reply.sizes.empty() && !names.empty()) {
      const Error error = no_such_size(service.state(), service.core().config(), m.name);
      return service.refuse(asker, error.code, error.message);
    }
    service.reply(asker, std::move(reply));
  }
  void change_size(const SizeInput::Ask& ask) const {
    feed(SizeInput{expect(), ask, asker.caller});
  }
  void operator()(const LabelNode& m) const { feed(LabelInput{expect(), m, asker.caller}); }
  void operator()(const GetUsage& m) const {
    const Viewer viewer(service.state(), asker.caller);
    service.reply(asker, usage_of(service.ports_.measurements, service.core(), viewer, m));
  }
  void operator()(const ListQuotas& m) const {
    service.reply(asker, list_quotas(service.core(), asker.caller, m));
  }
  void operator()(const ListProjects&) const { service.reply(asker, projects()); }

  void operator()(const QueryAudit& m) const { service.ports_.audit.query(m, later()); }
  void operator()(const VerifyAudit& m) const { service.ports_.audit.verify(m, later()); }
  std::function<void(ClientReply)> later() const { return later(asker); }
  std::function<void(ClientReply)> later(const Asker& asker) const {
    return
        [&service = service, asker](ClientReply reply) { service.reply(asker, std::move(reply)); };
  }

  // Projects in which the caller has no role are left out, unless the caller manages users.
  ProjectsReply projects() const {
    const Principals& principals = service.state().principals();
    const bool all = is_allowed(principals, asker.caller, Permission::manage_users, {});
    ProjectsReply reply;
    const auto add = [&](const std::string& name, const Project& project) {
      ProjectView view{name, project.created, project.by, {}};
      bool is_member = false;
      for (const auto& [user_name, user] : principals.users()) {
        const bool has = user.has(Role::submitter, name) || user.has(Role::viewer, name);
        if (has) view.users.push_back(user_name);
        is_member = is_member || (has && user_name == name_of(asker.caller));
      }
      if (all || is_member) reply.projects.push_back(std::move(view));
    };
    if (principals.projects().count(std::string(kDefaultProject)) == 0)
      add(std::string(kDefaultProject), {});
    for (const auto& [name, project] : principals.projects()) add(name, project);
    return reply;
  }

  void question(const Query& query) const {
    Asker noted = asker;
    ClientReply reply = answer_of(query, &noted);
    service.reply(noted, std::move(reply));
  }
  // `noted`: the asker; what they read of other users' data is added to it.
  ClientReply answer_of(const Query& query, Asker* noted) const {
    const Viewer viewer(service.state(), asker.caller);
    auto reply = launcher::answer(service.core(), service.ports_.launcher.info(), viewer, query);
    const Measurements& measurements = service.ports_.measurements;
    if (auto* nodes = std::get_if<NodesReply>(&reply))
      for (NodeView& node : nodes->nodes) node.blobs = measurements.traffic(node.id);
    add_use(measurements, viewer, service.state(), query, &reply);
    record_read(viewer, reply, &noted->asked);
    return reply;
  }
  // Records what an admin reads, because an admin sees more of others' jobs than a viewer does.
  static void record_read(const Viewer& viewer, const ClientReply& reply, Asked* asked) {
    std::set<std::string> owners;
    const auto look = [&](const JobView& job) {
      if (viewer.is_audited(job)) owners.insert(job.spec.submitter);
    };
    if (const auto* one = std::get_if<JobReply>(&reply)) look(one->job);
    if (const auto* one = std::get_if<ExplainReply>(&reply)) look(one->explain.job);
    if (const auto* all = std::get_if<JobsReply>(&reply))
      for (const JobView& job : all->jobs) look(job);
    note_owners(owners, asked);
  }
  static void note_owners(const std::set<std::string>& owners, Asked* asked) {
    if (owners.empty()) return;
    asked->reads_others = true;
    asked->detail = fmt::format("of {}", fmt::join(owners, ", "));
  }
  void feed(const Input& input) const { service.ports_.core.feed(input); }
  ReplyTo expect() const { return service.expect_reply(asker); }
};

// The project is also in the text, for people who read only that line.
static void add_project(Asked* asked) {
  asked->detail =
      "in project " + asked->project + (asked->detail.empty() ? "" : ", " + asked->detail);
}

void Service::handle(Asker asker, ClientRequest request) {
  asker.asked = asked_of(request, state());
  const Claim claim = claim_of(request, state(), asker.caller);
  asker.asked.project = claim.object.project;
  const bool is_older = claim.object.project.empty() && !claim.object.job.value.empty();
  if (is_older) asker.asked.project = kDefaultProject;  // the client is older than projects
  if (std::holds_alternative<Submit>(request)) add_project(&asker.asked);
  if (!claim.absent.empty()) return refuse(asker, ErrorCode::not_found, claim.absent);
  Decision decision = may(state().principals(), asker.caller, claim.permission, claim.object);
  if (!decision.allowed) return refuse(asker, ErrorCode::permission_denied, decision.why);
  asker.asked.reads_others = decision.audited;
  if (asker.asked.changes)
    if (std::string why = ports_.audit.is_stuck(); !why.empty())
      return refuse(asker, ErrorCode::resource_exhausted, std::move(why));
  std::visit(RequestHandler{*this, asker}, request);
}

}  // namespace lockstep::launcher
