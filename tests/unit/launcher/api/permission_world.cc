#include "tests/unit/launcher/api/permission_world.h"

#include <gtest/gtest.h>

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

PermissionWorld::PermissionWorld(Kind kind) : kind_(kind) {
  ports_.core.on_step = [this](const Step& step) {
    facts_ += step.facts.size();
    test::perform(step, service_);
  };
  Core& core = ports_.core.core();
  for (const Whose whose : kWhose) {
    RegisteredEnvironment known = definition(environment(whose), "busybox:1");
    known.spec.version = "1";
    core.replay({ports_.clock.time, EnvironmentRegistered{known, user(whose), project(whose)}});
    RegisteredAsset data = files(asset(whose));
    data.version = "1";
    data.tree = sha256("the first files");
    core.replay({ports_.clock.time, AssetRegistered{data, user(whose), project(whose)}});
  }
  core.recovered(ports_.clock.time);
  for (const char* project : {"speech", "audio", "empty"})
    feed(PrincipalInput{{}, CreateProject{project}, LauncherItself{}});
  add_user("admin", {Role::admin, ""});
  add_user("operator", {Role::operator_, ""});
  add_user("submitter", {Role::submitter, "default"});
  add_user("viewer", {Role::viewer, "default"});
  add_user("stranger", {Role::submitter, "audio"});
  add_user("mate", {Role::submitter, "default"});
  add_user("other", {Role::submitter, "speech"});
  feed(TokenInput{
      {}, kToken, ports_.clock.time + minutes(60), 1, LauncherItself{}, Approval::required});
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
  EXPECT_TRUE(ports_.secrets.set(name_of(caller()), "TOKEN", kCanaryValue));
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
  ports_.replies.sent.clear();
  ports_.audit.entries.clear();
  facts_ = 0;
  Asker asker;
  asker.caller = caller();
  asker.key = key_of(name_of(asker.caller));
  asker.address = "10.0.0.9";
  asker.connection = "connection";
  asker.sequence = 7;
  service_.handle(std::move(asker), std::move(request));
  if (ports_.replies.sent.empty()) return std::nullopt;
  return ports_.replies.sent.front().reply;
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
