#include "launcher/api/service.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/messages/client_limits.h"
#include "common/domain/why/jobs/explain.h"
#include "launcher/api/mapped_environments.h"
#include "launcher/api/queries/asset_queries.h"
#include "launcher/api/queries/compute_texts.h"
#include "launcher/api/queries/environment_queries.h"
#include "launcher/api/queries/queries.h"
#include "launcher/api/queries/quota_queries.h"
#include "launcher/api/queries/usage_queries.h"
#include "launcher/api/queries/viewer.h"
#include "launcher/core/access/user_changes.h"
#include "launcher/core/base/no_such.h"
#include "launcher/core/explain/reuse.h"
#include "launcher/core/jobs/children.h"
#include "launcher/core/names/environment_requests.h"
#include "launcher/core/queue/quotas.h"
#include "launcher/core/targets/size_requests.h"
#include "launcher/words/jobs/say_explain.h"
#include "launcher/words/why.h"

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxPending = 100'000;
constexpr std::size_t kMaxComparisons = 4;          // of trees, for one user's explanations
constexpr Duration kViewEvery = milliseconds(250);  // of a pipeline or a large gang
constexpr int kMostPartsAtOnce = 64;                // a gang of more is large
constexpr Duration kRoundEvery = kStillWatchingEvery / Watchers::kRounds;

bool has_large_view(const Job& job) {
  const Attempt* attempt = job.last_attempt();
  return job.steps || (attempt != nullptr && attempt->size() > kMostPartsAtOnce);
}

UserView view_of(const User& user) {
  UserView view{user.name, user.account, {user.grants.begin(), user.grants.end()},
                {},        user.added,   user.by};
  for (const auto& [key, known] : user.keys) view.keys.push_back({key, known.added, known.by});
  return view;
}

}  // namespace

// ---- requests -----------------------------------------------------------------------------------

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
  std::function<void(ClientReply)> later() const {
    return [&service = service, asker = asker](ClientReply reply) {
      service.reply(asker, std::move(reply));
    };
  }

  // Of a project in which the caller has no role they learn nothing, unless they manage users.
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
  // `noted`: the asker, to whom is added what they read of others.
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
  // An admin is shown more of others' jobs than who may only see them.
  static void record_read(const Viewer& viewer, const ClientReply& reply, Asked* asked) {
    std::set<std::string> owners;
    const auto look = [&](const JobView& job) {
      if (viewer.is_audited(job)) owners.insert(job.spec.submitter);
    };
    if (const auto* one = std::get_if<JobReply>(&reply)) look(one->job);
    if (const auto* one = std::get_if<ExplainReply>(&reply)) look(one->explain.job);
    if (const auto* all = std::get_if<JobsReply>(&reply))
      for (const JobView& job : all->jobs) look(job);
    if (owners.empty()) return;
    asked->reads_others = true;
    asked->detail = fmt::format("of {}", fmt::join(owners, ", "));
  }
  void feed(const Input& input) const { service.ports_.core.feed(input); }
  ReplyTo expect() const { return service.expect_reply(asker); }
};

Service::Service(Ports ports) : ports_(ports) {}

// In the text too: a reader of one line wants to know where the job went.
static void add_project(Asked* asked) {
  asked->detail =
      "in project " + asked->project + (asked->detail.empty() ? "" : ", " + asked->detail);
}

void Service::handle(Asker asker, ClientRequest request) {
  asker.asked = asked_of(request, state());
  const Claim claim = claim_of(request, state(), asker.caller);
  asker.asked.project = claim.object.project;
  const bool is_older = claim.object.project.empty() && !claim.object.job.value.empty();
  if (is_older) asker.asked.project = kDefaultProject;  // than projects
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

// Without the files if nothing reads them now, because the rest is an answer too.
void Service::explain(const Asker& asker, ExplainReply explained) {
  const auto& rerun = explained.explain.rerun;
  const bool compares =
      rerun && std::any_of(rerun->changes.begin(), rerun->changes.end(),
                           [](const PartChange& change) { return change.was || change.is; });
  const std::string user = owner_of(asker.caller);
  if (!compares || comparing_[user] >= kMaxComparisons) return reply(asker, std::move(explained));
  ++comparing_[user];
  auto changes = rerun->changes;
  ports_.blobs.compare(asker.caller, std::move(changes),
                       [this, asker, user, explained = std::move(explained)](
                           std::vector<PartChange> compared) mutable {
                         if (--comparing_[user] == 0) comparing_.erase(user);
                         if (asker.deadline < ports_.clock.now()) return;  // its client asks again
                         ExplainView& view = explained.explain;
                         view.rerun->changes = std::move(compared);
                         for (std::size_t i = 0; i < view.reasons.size(); ++i) {
                           if (!view.reasons[i].why.is<RunsAgain>()) continue;
                           view.reasons[i].why = why_again(*view.rerun);
                           view.lines[i] = words::text_of(view.reasons[i]);
                         }
                         reply(asker, std::move(explained));
                       });
}

void Service::check_file(const Asker& asker, CheckJobFile request) {
  const JobFileToCheck what{request.spec ? "" : request.name, request.wait_anyway,
                            request.faults_are_said};
  const Status begun = ports_.launcher.parse_job_file(
      asker.caller, std::move(request), [this, asker, what](spec::JobFileReading parsed) {
        if (asker.deadline < ports_.clock.now()) return;
        auto file = std::make_shared<spec::JobFileReading>(std::move(parsed));
        ports_.core.ask([this, asker, to = expect_reply(asker), what, file] {
          answer(to, check_job_file(core(), asker.caller, lookups_of(asker.caller), what,
                                    std::move(*file)));
        });
      });
  if (!begun) refuse(asker, begun.error().code, begun.error().message);
}

JobFileLookups Service::lookups_of(const Caller& caller) const {
  JobFileLookups lookups;
  lookups.show_environment = [this, caller](const std::string& reference) -> ClientReply {
    const Claim claim = claim_of(ShowEnvironment{reference}, state(), caller);
    Decision decision = may(state().principals(), caller, claim.permission, claim.object);
    if (decision.allowed) return environment_called(reference, caller);
    return Refused{ErrorCode::permission_denied, std::move(decision.why)};
  };
  lookups.expect_secrets = [this, caller](const std::set<std::string>& names) -> Status {
    TRY(check_secrets(state(), caller, names));
    return ports_.secrets.expect(owner_of(caller), names);
  };
  lookups.find_datastore = [this, caller](const std::string& project, const std::string& name) {
    return datastore_for(caller, project, name);
  };
  lookups.mapped_images = images_in_map();
  lookups.place_outputs = [this, caller](JobSpec& spec) { return place_outputs(caller, spec); };
  return lookups;
}

// The operator's map answers for names that nobody has. Whoever registered such a name would run
// their code in the jobs of all who rely on the map.
bool Service::is_in_map(const EnvironmentSpec& spec) const {
  if (state().names().find(NameKind::environment, spec.name) != nullptr) return false;
  std::vector<std::string> references{spec.name};
  if (!spec.version.empty()) references.push_back(spec.name + ":" + spec.version);
  return std::any_of(references.begin(), references.end(), [&](const std::string& reference) {
    return std::holds_alternative<EnvironmentReply>(
        environment_called(reference, LauncherItself{}));
  });
}

ClientReply Service::environment_called(const std::string& reference, const Caller& caller) const {
  return with_map(state(), ports_.files, reference, caller);
}

FindMappedImages Service::images_in_map() const {
  return [&files = ports_.files](const std::set<std::string>& images) {
    return mapped_images(files, images);
  };
}

void Service::create_environment(const Asker& asker, CreateEnvironment create) {
  if (is_in_map(create.environment.spec))
    return refuse(asker, ErrorCode::already_exists,
                  fmt::format("the name '{}' is in the operator's environments.map; choose another "
                              "with --name",
                              create.environment.spec.name));
  if (const auto low = ports_.launcher.low_space(); !low.empty())
    return refuse(asker, ErrorCode::resource_exhausted, low);
  std::vector<Digest> roots;
  if (const Digest* context = context_of(create.environment.spec.definition))
    roots.push_back(*context);
  check_trees(asker, std::move(roots),
              [this, asker, create = std::move(create)](Result<bool> whole) {
                if (!whole) return refuse(asker, whole.error().code, whole.error().message);
                if (!*whole)
                  return refuse(asker, ErrorCode::not_found,
                                "environment.build: the launcher does not have all files of the "
                                "build folder; create the environment again");
                register_environment(asker, create);
              });
}

// Its build folder, if it has one, is whole, and the asker's.
void Service::register_environment(const Asker& asker, const CreateEnvironment& create) {
  const auto feed = [this, asker, create](Bytes files) {
    ports_.core.feed(CreateEnvironmentInput{expect_reply(asker), create.environment, create.project,
                                            asker.caller, files});
  };
  const Digest* context = context_of(create.environment.spec.definition);
  if (context == nullptr) return feed({});
  ports_.blobs.measure(asker.caller, *context, [this, asker, feed](const Result<Bytes>& size) {
    if (asker.deadline < ports_.clock.now()) return;  // its client asks again
    if (!size)
      return refuse(asker, size.error().code, "environment.build: " + size.error().message);
    feed(*size);
  });
}

// ---- replies ------------------------------------------------------------------------------------

ReplyTo Service::expect_reply(const Asker& asker, std::optional<TokenReply> token) {
  if (pending_.size() >= kMaxPending) pending_.erase(pending_.begin());
  pending_[++last_pending_] = {asker, std::move(token)};
  return {last_pending_, asker.sequence};
}

void Service::answer(const ReplyTo& to, ClientReply body) {
  const auto found = pending_.find(to.client);
  if (found == pending_.end()) return;
  reply(found->second.asker, std::move(body));
  pending_.erase(found);
}

void Service::reply(const Asker& asker, ClientReply body) {
  for (AuditEntry& entry : entries_of(asker, body)) ports_.audit.record(std::move(entry));
  ports_.replies.send(asker.connection, asker.sequence, std::move(body));
}

void Service::refuse(const Asker& asker, ErrorCode code, std::string message) {
  reply(asker, Refused{code, std::move(message)});
}

void Service::perform(const ReplySubmitted& action) {
  SubmitReply said{action.job, false, {}};
  for (const Why& note : action.notes) said.notes.push_back(words::text_of(note));
  answer(action.to, std::move(said));
}
// A token's text was made when it was asked for; now that its hash is durable it may be shown.
void Service::perform(const ReplyDone& action) {
  const auto found = pending_.find(action.to.client);
  if (found == pending_.end()) return;
  ClientReply body = Done{action.message};
  if (found->second.token) body = *std::move(found->second.token);
  answer(action.to, std::move(body));
}
void Service::perform(const ReplyRefused& action) {
  answer(action.to, Refused{action.code, action.message});
}
void Service::perform(const ReplyDeleted& action) { answer(action.to, action.result); }
void Service::perform(const ReplyCompute& action) {
  answer(action.to, ComputesReply{with_texts(core().compute_views(action.name))});
}
void Service::perform(const ReplySizes& action) {
  answer(action.to, SizesReply{core().size_views(action.names), {}});
}
void Service::perform(const ReplyAsset& action) {
  const auto found = pending_.find(action.to.client);
  if (found == pending_.end()) return;
  answer(action.to, show_asset(state(), found->second.asker.caller,
                               {action.kind, action.name, action.version}));
}
void Service::perform(const ReplyEnvironment& action) {
  const auto found = pending_.find(action.to.client);
  if (found == pending_.end()) return;
  const Viewer viewer(state(), found->second.asker.caller);
  answer(action.to, show_environment(state(), action.name + ":" + action.version, viewer));
}
void Service::perform(const ExitDaemon& action) {
  answer(action.to, Done{"the launcher is stopping"});
}

// ---- watching -----------------------------------------------------------------------------------

void Service::perform(const RevokeUser& action) { watchers_.remove_key(action.key); }

// Who left without a word is only looked for when that makes room.
Status Service::watch(const Asker& asker, const JobId& job) {
  Status added = watchers_.add(job, asker);
  if (added) return added;
  watchers_.drop_gone(
      [this](const std::string& connection) { return ports_.replies.is_gone(connection); });
  return watchers_.add(job, asker);
}

void Service::flush() {
  for (const auto& id : std::exchange(changed_jobs_, {})) {
    if (watchers_.of(id) == nullptr)
      told_views_.erase(id);
    else if (until_next_view(id) > Duration::zero())
      changed_jobs_.insert(id);
    else
      tell_of_change(id);
  }
  tell_next_rounds();
}

// The view of a pipeline grows with its steps, and that of a gang with its nodes, and each of them
// changes it: watchers hear of it now and then, and of another status at once.
Duration Service::until_next_view(const JobId& id) {
  const Job* job = state().job(id);
  if (job == nullptr || job->finish || !has_large_view(*job)) {
    told_views_.erase(id);
    return Duration::zero();
  }
  const Instant now = ports_.clock.now();
  const JobStatus status = job->status();
  const auto [told, is_first] = told_views_.try_emplace(id, ToldView{now, status});
  const bool is_at_once = is_first || told->second.status != status;
  const Duration left = is_at_once ? Duration::zero() : told->second.at + kViewEvery - now;
  if (left <= Duration::zero()) told->second = {now, status};
  return left;
}

void Service::tell_of_change(const JobId& id) {
  const Job* known = state().job(id);
  if (known == nullptr) return watchers_.job_is_over(id);
  const Job& job = *known;
  const auto view = core().job_view(id, detail_for_watchers(job));
  // Roles may have changed since they began to watch.
  watchers_.remove_if(id,
                      [&](const Asker& asker) { return !Viewer(state(), asker.caller).sees(job); });
  if (const auto* watchers = watchers_.of(id))
    for (const auto& [connection, asker] : *watchers)
      ports_.replies.send(connection, 0, JobUpdate{Viewer(state(), asker.caller).cut(*view)});
  if (is_final(view->status)) watchers_.job_is_over(id);
}

// A loop that was held up makes up for the rounds of one interval, no more.
void Service::tell_next_rounds() {
  const Instant now = ports_.clock.now();
  if (watchers_.count() == 0) {
    next_round_ = now + kRoundEvery;
    return;
  }
  next_round_ = std::max(next_round_, now - kStillWatchingEvery + kRoundEvery);
  if (next_round_ > now) return;
  const Instant started = ports_.launcher.info().started;
  for (; next_round_ <= now; next_round_ = next_round_ + kRoundEvery)
    for (const auto& [id, asker] : watchers_.next_round()) {
      const Job* job = state().job(id);
      if (job != nullptr && Viewer(state(), asker.caller).sees(*job))
        ports_.replies.send(asker.connection, 0, StillWatching{id, started});
    }
}

Duration Service::wait() const {
  if (watchers_.count() == 0) return Duration::max();
  Instant due = next_round_;
  for (const JobId& id : changed_jobs_)  // large jobs whose watchers are told later
    if (const auto told = told_views_.find(id); told != told_views_.end())
      due = std::min(due, told->second.at + kViewEvery);
  return std::max(due - ports_.clock.now(), Duration::zero());
}

// The client waits on from here, so its request is not late either.
void Service::tell_pending(const WaitsForDisk& why, Instant until) {
  for (auto& [number, pending] : pending_) {
    Asker& asker = pending.asker;
    if (!asker.takes_waits) continue;
    asker.deadline = std::max(asker.deadline, until);
    ports_.replies.send(asker.connection, asker.sequence, why);
  }
}

void Service::gone(const std::string& connection) { watchers_.gone(connection); }

}  // namespace lockstep::launcher
