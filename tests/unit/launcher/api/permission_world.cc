#include "tests/unit/launcher/api/permission_world.h"

#include "launcher/api/environment_queries.h"

namespace lockstep::launcher {
namespace {

const Digest kToken = sha256("token");
const PublicKey kNodeKey(std::string(40, 'n'));

PublicKey key_of(const std::string& user) {
  std::string text = user + std::string(40, '0');
  return PublicKey(text.substr(0, 40));
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::nobody: return "nobody";
    case Kind::admin: return "admin";
    case Kind::operator_: return "operator";
    case Kind::submitter: return "submitter";
    case Kind::viewer: return "viewer";
    case Kind::stranger: return "stranger";
    case Kind::node: return "node";
    case Kind::attempt: return "attempt";
  }
  return "?";
}

std::string PermissionWorld::token() { return kToken.hex().substr(0, kTokenIdCharacters); }

PermissionWorld::PermissionWorld(Kind kind) : kind_(kind), service_(ports()) {
  for (const Whose whose : kWhose) {
    RegisteredEnvironment known = definition(environment(whose), "busybox:1");
    known.spec.version = "1";
    core_.replay({now_, EnvironmentRegistered{known, user(whose), project(whose)}});
    RegisteredAsset data = files(asset(whose));
    data.version = "1";
    data.tree = sha256("the first files");
    core_.replay({now_, AssetRegistered{data, user(whose), project(whose)}});
  }
  core_.recovered(now_);
  for (const char* project : {"speech", "audio", "empty"})
    feed(PrincipalInput{{}, CreateProject{project}, LauncherItself{}});
  add_user("admin", {Role::admin, ""});
  add_user("operator", {Role::operator_, ""});
  add_user("submitter", {Role::submitter, "default"});
  add_user("viewer", {Role::viewer, "default"});
  add_user("stranger", {Role::submitter, "audio"});
  add_user("mate", {Role::submitter, "default"});
  add_user("other", {Role::submitter, "speech"});
  feed(TokenInput{{}, kToken, now_ + minutes(60), 1, LauncherItself{}, Approval::required});
  feed(JoinInput{{}, kToken, kNodeKey, node()});
  feed(ComputeInput{
      {},
      CreateCompute{{compute(), ComputeType::virtualmachine, "", "", {}, NodeSource::ssh, {}}},
      LauncherItself{}});
  ComputeSpec desk;
  desk.name = instance();
  desk.type = ComputeType::computeinstance;
  desk.source = NodeSource::docker;
  desk.settings["image"] = {"debian:12"};
  feed(ComputeInput{{}, CreateCompute{desk}, LauncherItself{}});
  Size own;
  own.name = size();
  own.memory = gibibytes(1);
  feed(SizeInput{{}, DefineSizes{{own}}, LauncherItself{}});
  if (kind == Kind::attempt) open_node();
  for (const Whose whose : kWhose) add_things(whose);
}

// So that the asker's own job runs.
void PermissionWorld::open_node() {
  feed(ApproveNodeInput{{}, node(), LauncherItself{}});
  SessionOpen open;
  open.node = NodeId(1);
  open.boot = BootId("boot");
  open.session = SessionId(1);
  open.version = LOCKSTEP_VERSION;
  open.inventory.cpus = {0, 1, 2, 3};
  open.inventory.memory = gibibytes(8);
  feed(SessionInput{kNodeKey, open});
}

void PermissionWorld::add_user(const std::string& name, const Grant& grant) {
  feed(PrincipalInput{{}, AddUser{name, name, key_of(name), grant}, LauncherItself{}});
}

void PermissionWorld::add_things(Whose whose) {
  SubmitInput submit;
  submit.submission = job(whose).value;
  submit.spec.name = job(whose).value;
  submit.spec.command = ShellCommand{kCanaryCommand};
  submit.spec.environment_variables = {{"TOKEN", kCanaryValue}};
  submit.spec.submitter = user(whose);
  submit.spec.run_as = user(whose);
  submit.spec.project = project(whose);
  submit.caller = LauncherItself{};
  feed(submit);
}

JobId PermissionWorld::add_pipeline(Whose whose, bool shared) {
  SubmitInput submit;
  submit.submission = submit.spec.name = "pipeline-of-" + user(whose);
  submit.spec.submitter = submit.spec.run_as = user(whose);
  submit.spec.project = project(whose);
  submit.caller = LauncherItself{};
  PipelineStep step;
  step.name = "train";
  step.spec.command = ShellCommand{kCanaryCommand};
  step.spec.environment_variables = {{"TOKEN", kCanaryValue}};
  PipelineSpec pipeline;
  pipeline.steps.push_back(std::move(step));
  submit.spec.pipeline = std::move(pipeline);
  feed(submit);
  const JobId id(submit.spec.name);
  if (shared) feed(ShareInput{{}, id, true, LauncherItself{}});
  return id;
}

void PermissionWorld::add_cluster(const std::string& name) {
  ComputeSpec spec;
  spec.name = name;
  spec.type = ComputeType::amlcompute;
  spec.source = NodeSource::command;
  spec.settings = {{"program", {"cloud"}}, {"api_token", {kCanaryValue}}};
  feed(ComputeInput{{}, CreateCompute{spec}, LauncherItself{}});
  SubmitInput submit;
  submit.submission = submit.spec.name = "waits-for-" + name;
  submit.spec.command = ShellCommand{"true"};
  submit.spec.compute = name;
  submit.spec.submitter = submit.spec.run_as = user(Whose::far);
  submit.spec.project = project(Whose::far);
  submit.caller = LauncherItself{};
  feed(submit);
}

RegisteredAsset PermissionWorld::files(const std::string& name) {
  RegisteredAsset asset;
  asset.name = name;
  asset.path = "./files";
  asset.tree = sha256("files");
  return asset;
}

RegisteredEnvironment PermissionWorld::definition(const std::string& name,
                                                  const std::string& image) {
  RegisteredEnvironment environment;
  environment.spec.name = name;
  DockerEnvironment docker;
  docker.image = image;
  environment.spec.definition = docker;
  return environment;
}

Service::Ports PermissionWorld::ports() {
  Service::Ports ports;
  ports.core = &core_;
  ports.feed = [this](const Input& input) { feed(input); };
  ports.now = [this] { return now_; };
  ports.random = [] { return 1; };
  ports.check_snapshot = [](const Caller&, const Digest&, auto then) { then(true); };
  ports.find_tree = [](const Caller&, const TreeQuestion&, auto then) {
    then(make_error(ErrorCode::not_found, "nothing is there"));
  };
  ports.measure_snapshot = [](const Caller&, const Digest&, auto then) { then(Bytes{}); };
  ports.is_gone = [](const std::string&) { return false; };
  ports.low_space = [] { return std::string(); };
  ports.info = [] { return LauncherInfo{}; };
  ports.show_environment = [this](const std::string& reference, const Caller& caller) {
    return show_environment(core_.state(), reference, Viewer(core_.state(), caller));
  };
  ports.secrets = [](const std::string&, const SecretRequest& request) -> Result<ClientReply> {
    if (std::holds_alternative<ListSecrets>(request)) return ClientReply(SecretsReply{});
    return ClientReply(Done{"done"});
  };
  ports.expect_secrets = [](const std::string&, const std::set<std::string>&) { return Status(); };
  ports.parse_job_file = [](const Caller&, const CheckJobFile& request, const auto& then) {
    then(parse(request));
    return Status();
  };
  ports.compute_log = [](const std::string&, std::int64_t) { return std::string("a line\n"); };
  ports.make_token = [this](const CreateToken&) {
    return Service::Ports::NewToken{sha256("another"), {"the token's text", now_ + minutes(1)}};
  };
  ports.send = [this](const std::string&, std::uint64_t, ClientReply reply) {
    replies_.push_back(std::move(reply));
  };
  Service::Ports::Audit audit;
  audit.on_outcome = [this](const Asker& asker, const ClientReply& reply) {
    for (AuditEntry& entry : entries_of(asker, reply)) entries_.push_back(std::move(entry));
  };
  audit.is_stuck = [] { return std::string(); };
  audit.query = [](const QueryAudit&, auto then) { then(AuditReply{}); };
  audit.verify = [](const VerifyAudit&, auto then) { then(AuditVerified{}); };
  ports.audit = std::move(audit);
  return ports;
}

void PermissionWorld::feed(const Input& input) {
  Step step = core_.handle(now_, input);
  facts_ += step.facts.size();
  for (const Action& action : step.actions)
    std::visit(
        [this](const auto& one) {
          if constexpr (requires { service_.perform(one); }) service_.perform(one);
        },
        action);
  service_.flush();
}

Caller PermissionWorld::caller() const {
  switch (kind_) {
    case Kind::nobody: return Nobody{};
    case Kind::node: return NodeCaller{NodeId(1)};
    case Kind::attempt:
      return AttemptCaller{{job(Whose::own), 1}, "submitter", project(Whose::own)};
    case Kind::admin:
    case Kind::operator_:
    case Kind::submitter:
    case Kind::viewer:
    case Kind::stranger: break;
  }
  return UserCaller{std::string(to_string(kind_))};
}

std::optional<ClientReply> PermissionWorld::ask(ClientRequest request) {
  replies_.clear();
  entries_.clear();
  facts_ = 0;
  Asker asker;
  asker.caller = caller();
  asker.key = key_of(name_of(asker.caller));
  asker.address = "10.0.0.9";
  asker.connection = "connection";
  asker.sequence = 7;
  service_.handle(std::move(asker), std::move(request));
  if (replies_.empty()) return std::nullopt;
  return replies_.front();
}

std::string PermissionWorld::user(Whose whose) const {
  switch (whose) {
    case Whose::near: return "mate";
    case Whose::far: return "other";
    case Whose::own: break;
  }
  const bool is_user = kind_ != Kind::nobody && kind_ != Kind::node && kind_ != Kind::attempt;
  return is_user ? std::string(to_string(kind_)) : "submitter";
}

std::string PermissionWorld::project(Whose whose) const {
  switch (whose) {
    case Whose::near: return "default";
    case Whose::far: return "speech";
    case Whose::own: break;
  }
  return kind_ == Kind::stranger ? "audio" : "default";
}

JobId PermissionWorld::job(Whose whose) const { return JobId("job-of-" + user(whose)); }
std::string PermissionWorld::environment(Whose whose) const { return "env-of-" + user(whose); }
std::string PermissionWorld::asset(Whose whose) const { return "set-of-" + user(whose); }
PublicKey PermissionWorld::key(Whose whose) const { return key_of(user(whose)); }

void PermissionWorld::end_jobs() {
  for (const Whose whose : kWhose) feed(CancelInput{{}, job(whose), LauncherItself{}});
}

void PermissionWorld::share_names() {
  for (const Whose whose : kWhose) {
    feed(ShareNameInput{
        {}, {NameKind::environment, environment(whose), "", true}, LauncherItself{}});
    feed(ShareNameInput{{}, {NameKind::data, asset(whose), "", true}, LauncherItself{}});
  }
}

void PermissionWorld::share_jobs() {
  for (const Whose whose : kWhose) feed(ShareInput{{}, job(whose), true, LauncherItself{}});
}

}  // namespace lockstep::launcher
