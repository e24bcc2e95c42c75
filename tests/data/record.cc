// Records what this version writes, for all later ones to read: a journal of a life with everything
// in it, and one envelope of each kind. Run by record.py at each landing; never changed afterwards,
// since what it wrote then is what must stay readable.
//   record_data DIR     writes DIR/journal.db, DIR/jobs.txt, DIR/envelopes.hex

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/wire/messages/control.h"
#include "launcher/state/compact.h"
#include "launcher/store/journal.h"
#include "tests/unit/common/wire/fill.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

// Retries, a lost node, a drain, a cancel, logs awaited, outputs.
void live(TestLauncher& launcher) {
  FakeNode n1 = launcher.join("n1", inventory(8, gibibytes(16), 2));
  FakeNode n2 = launcher.join("n2");
  FakeNode n3 = launcher.join("n3");
  const JobId gang = launcher.submit(job_spec("gang", 2));
  const JobId solo = launcher.submit(job_spec("solo"));
  const JobId waits = launcher.submit(job_spec("waits"));
  launcher.prepared(n1, attempt(gang));
  launcher.prepared(n2, attempt(gang));
  launcher.observe(n1, attempt(gang), PartState::running);
  PartReport end;
  end.attempt = attempt(solo);
  end.state = PartState::finished;
  end.exit = node_exit({rank_exit(0)});
  end.exit->logs = {{0, 5, 7}};
  end.outputs = {{OutputKind::outputs, "", sha256("tree"), 2, Bytes{77}, {"one was a socket"}}};
  launcher.observe(n3, end);
  launcher.drop_notices();
  launcher.take<AwaitLogs>();
  launcher.finished(n1, attempt(gang), node_exit({rank_exit(0, Cause::signal, 9)}));
  launcher.pass(seconds(11), {&n1, &n3});
  launcher.send(LogsDurableInput{attempt(solo), n3.id});
  launcher.drop_notices();
  launcher.cancel(waits);
  launcher.finished(n3, attempt(waits), node_exit({terminated(0)}));
  launcher.prepared(n1, attempt(gang, 2));
  launcher.prepared(n3, attempt(gang, 2));
  launcher.finished(n1, attempt(gang, 2), node_exit({rank_exit(0)}));
  launcher.finished(n3, attempt(gang, 2), node_exit({rank_exit(1)}));
  launcher.send(DrainInput{launcher.next_reply(), "n3", true, "disk"});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  launcher.send(RemoveNodeInput{launcher.next_reply(), "n2", UserCaller{"ann"}});
  launcher.take<ReplyDone>();
  launcher.take<RevokeNode>();
  launcher.drop_notices();
  const JobId runs = launcher.submit(job_spec("runs"));
  launcher.observe(n1, attempt(runs), PartState::running);
  launcher.submit(job_spec("queued", 2));
}

// A name that is used again.
void live_on(TestLauncher& launcher) {
  launcher.send(DeleteInput{launcher.next_reply(), {JobId("waits")}, false, {}, UserCaller{"ann"}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();
  launcher.submit(job_spec("waits"));
}

PartReport says(const AttemptId& id, EnvironmentReport::Step step) {
  PartReport made;
  made.attempt = id;
  made.state = PartState::staging;
  made.environment.emplace();
  made.environment->step = step;
  made.environment->platform = "linux-x86_64";
  made.environment->why = told("no network");
  return made;
}

// A name for an image with packages; a job that needs it, which one node cannot solve and another
// does; an environment that is made anew, and a prune.
void live_in_environments(TestLauncher& launcher) {
  const DockerEnvironment image{
      "debian:12", {}, CondaEnvironment{{"c"}, true, {"a"}, {}, {}, {}, {}, {}}};
  launcher.send(CreateEnvironmentInput{
      launcher.next_reply(), {{"packages", "", image}, "", {}}, "", UserCaller{"ann"}});
  launcher.take<ReplyEnvironment>();
  std::map<NodeId, FakeNode> nodes;
  for (const char* name : {"n4", "n5", "n6", "n7", "n8"}) {
    FakeNode node = launcher.join(name);
    nodes.emplace(node.id, node);
  }
  launcher.drop_notices();
  JobSpec spec = job_spec("images", 2);
  spec.resources.gpus = 0;
  spec.environment = EnvironmentSpec{"packages", "1", image};
  spec.resources.shm_size = mebibytes(256);
  spec.resources.docker_args = {"--ulimit", "nofile=1024"};
  const AttemptId id = attempt(launcher.submit(spec));
  using Step = EnvironmentReport::Step;
  const std::vector<NodeId> placed = launcher.placed_on(id);
  PartReport solved = says(id, Step::solved);
  solved.environment->lock = sha256("lock");
  const std::pair<std::size_t, PartReport> reports[] = {{0, says(id, Step::wants_lock)},
                                                        {1, says(id, Step::wants_lock)},
                                                        {0, says(id, Step::not_solved)},
                                                        {1, solved}};
  for (const auto& [rank, report] : reports) {
    launcher.observe(nodes.at(placed.at(rank)), report);
    launcher.drop_notices();
  }
  launcher.send(PruneEnvironmentsInput{launcher.next_reply(), seconds(60), UserCaller{"ann"}});
  launcher.take<ReplyDone>();
  launcher.drop_notices();
}

// Users, their keys and roles in two projects, quotas; a job with secrets and limits that its owner
// shares; a node that waits for approval, gets it and is revoked. What was given is partly taken.
void live_with_people(TestLauncher& launcher) {
  using Ask = PrincipalInput::Ask;
  const PublicKey first(std::string(40, 'f')), second(std::string(40, 's'));
  const QuotaHolder gina{QuotaHolder::Kind::user, "gina"};
  for (const Ask& ask : std::vector<Ask>{
           CreateProject{"vision"}, CreateProject{"speech"}, RemoveProject{"speech"},
           AddUser{"gina", "gina1", first, {Role::submitter, "vision"}},
           AddUser{"otto", "", {}, {Role::operator_, ""}},
           AddUser{"vera", "", PublicKey(std::string(40, 'v')), {Role::viewer, "vision"}},
           SetAccount{"gina", "gina2"}, ChangeRole{"gina", {Role::submitter, "default"}, false},
           ChangeRole{"gina", {Role::submitter, "default"}, true}, AddKey{"gina", second, first},
           RemoveUser{"vera"},
           SetQuota{gina, {{QuotaLimit::running_jobs, 2}, {QuotaLimit::gpus, 4}}, {}},
           SetQuota{{QuotaHolder::Kind::project, "vision"}, {{QuotaLimit::nodes, 8}}, {}},
           SetQuota{gina, {}, {QuotaLimit::gpus}}}) {
    launcher.send(PrincipalInput{launcher.next_reply(), ask, LauncherItself{}});
    launcher.expect_one<ReplyDone>();
    launcher.take<AllowUser>();
    launcher.take<RevokeUser>();
    launcher.take<UserChanged>();
    launcher.drop_notices();
  }
  SubmitInput submit;
  submit.reply = launcher.next_reply();
  submit.spec = job_spec("shared");
  submit.spec.project = "vision";
  submit.spec.environment_variables["TOKEN"] = "Bearer ${{secrets.HUB}}";
  submit.spec.limits = {300, mebibytes(1), gibibytes(1)};
  submit.caller = UserCaller{"gina"};
  launcher.send(submit);
  const JobId shared = launcher.expect_one<ReplySubmitted>().job;
  launcher.drop_notices();
  launcher.send(ShareInput{launcher.next_reply(), shared, true, UserCaller{"gina"}});
  launcher.take<ReplyDone>();
  launcher.drop_notices();
  launcher.config.approve_nodes = true;
  launcher.restart();
  launcher.drop_notices();
  launcher.join("n9");
  launcher.drop_notices();
  launcher.send(ApproveNodeInput{launcher.next_reply(), "n9", UserCaller{"ann"}});
  launcher.take<ReplyDone>();
  launcher.drop_notices();
  launcher.send(RemoveNodeInput{launcher.next_reply(), "n9", UserCaller{"otto"}, true});
  launcher.take<ReplyDone>();
  launcher.take<RevokeNode>();
  launcher.drop_notices();
}

// Versions that come and go under two names, one of which keeps none and stays its owner's.
void live_with_names(TestLauncher& launcher) {
  const auto add = [&](const std::string& name, const std::string& content) {
    RegisteredAsset asset;
    asset.name = name;
    asset.path = "./" + content;
    asset.tree = sha256(content);
    launcher.send(
        CreateAssetInput{launcher.next_reply(), asset, "", UserCaller{"ann"}, mebibytes(3)});
    launcher.expect_one<ReplyAsset>();
  };
  const auto remove = [&](const std::string& name) {
    launcher.send(
        DeleteVersionsInput{launcher.next_reply(), {NameKind::data, name, "1"}, UserCaller{"ann"}});
    launcher.expect_one<ReplyDone>();
  };
  add("faces", "first");
  add("faces", "second");
  add("gone", "third");
  launcher.send(ShareNameInput{
      launcher.next_reply(), {NameKind::data, "faces", "", true}, UserCaller{"ann"}});
  launcher.expect_one<ReplyDone>();
  remove("faces");
  remove("gone");
}

// After the compaction of what they had until now.
void live_on_with_names(TestLauncher& launcher) {
  launcher.send(ShareNameInput{
      launcher.next_reply(), {NameKind::data, "faces", "", false}, UserCaller{"ann"}});
  launcher.expect_one<ReplyDone>();
  launcher.send(DeleteVersionsInput{
      launcher.next_reply(), {NameKind::data, "faces", "2"}, UserCaller{"ann"}});
  launcher.expect_one<ReplyDone>();
}

// An account's lock, and a job's that one of its attempts submitted: its family begins with it.
void live_in_families(TestLauncher& launcher, FakeNode& node) {
  const Caller hana = UserCaller{"hana"};
  launcher.send(PrincipalInput{launcher.next_reply(),
                               AddUser{"hana", "hana1", {}, {Role::admin, ""}}, LauncherItself{}});
  launcher.expect_one<ReplyDone>();
  launcher.take<AllowUser>();
  launcher.take<UserChanged>();
  launcher.drop_notices();
  const auto submit = [&](const std::string& name, const Caller& caller) {
    SubmitInput input;
    input.reply = launcher.next_reply();
    input.spec = job_spec(name);
    input.spec.resources.cpus = 1;
    input.spec.resources.memory = gibibytes(1);
    input.spec.resources.gpus = 0;
    input.spec.environment =
        EnvironmentSpec{"", "", VenvEnvironment{"python3", {}, {"numpy==1.26"}, {}}};
    input.caller = caller;
    launcher.send(input);
    const JobId job = launcher.expect_one<ReplySubmitted>().job;
    launcher.drop_notices();
    return attempt(job);
  };
  using Step = EnvironmentReport::Step;
  const AttemptId parent = submit("parent", hana);
  PartReport solved = says(parent, Step::solved);
  solved.environment->lock = sha256("lock of hana1");
  for (const PartReport& report : {says(parent, Step::wants_lock), solved}) {
    launcher.observe(node, report);
    launcher.drop_notices();
  }
  const JobSpec& spec = launcher.core->state().job(parent.job)->spec;
  const AttemptId child = submit("child", AttemptCaller{parent, spec.submitter, spec.project});
  for (const AttemptId& one : {child, parent}) {
    launcher.cancel(one.job);
    launcher.finished(node, one, node_exit({terminated(0)}));
    launcher.drop_notices();
  }
}

// A job whose outputs come while it runs, one of them piece by piece.
void live_with_outputs(TestLauncher& launcher, FakeNode& node) {
  SubmitInput input;
  input.reply = launcher.next_reply();
  input.spec = job_spec("so-far");
  input.spec.terminal = TerminalKind::pty;
  input.sources = {{sha256("its folder"), Bytes{4096}}};
  launcher.send(input);
  const JobId job = launcher.expect_one<ReplySubmitted>().job;
  launcher.drop_notices();
  launcher.observe(node, attempt(job), PartState::running);
  launcher.drop_notices();
  PartReport running = report(attempt(job), PartState::running);
  CollectedOutput& output = running.outputs.emplace_back();
  output.tree = sha256("so far");
  output.files = 2;
  output.size = Bytes{77};
  output.pieces = sha256("what grows");
  output.partial = 1;
  launcher.observe(node, running);
  launcher.drop_notices();
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  launcher.observe(node, end);
  launcher.drop_notices();
}

// The journal begins with what a compaction made of the facts of names: it has NameSettled.
std::vector<StampedFact> live_before(TestLauncher& launcher) {
  live_with_names(launcher);
  std::vector<StampedFact> facts = compact(launcher.all_facts());
  const std::size_t compacted = launcher.all_facts().size();
  live_on_with_names(launcher);
  FakeNode node = launcher.join("n0");
  launcher.drop_notices();
  live_in_families(launcher, node);
  live_with_outputs(launcher, node);
  RemoveNodeInput removal{launcher.next_reply(), "n0", UserCaller{"ann"}};
  removal.now = true;
  launcher.send(removal);
  launcher.take<ReplyDone>();
  launcher.take<RevokeNode>();
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
  const auto& all = launcher.all_facts();
  facts.insert(facts.end(), all.begin() + static_cast<std::ptrdiff_t>(compacted), all.end());
  return facts;
}

// What a landing's home must have, since it is what later ones are known to have stumbled over.
template <typename Wanted>
bool has(const std::vector<StampedFact>& facts, const std::function<bool(const Wanted&)>& is_it) {
  return std::any_of(facts.begin(), facts.end(), [&](const StampedFact& fact) {
    const auto* one = std::get_if<Wanted>(&fact.fact);
    return one != nullptr && is_it(*one);
  });
}
bool has_all(const std::vector<StampedFact>& facts) {
  return has<NameSettled>(facts, [](const auto&) { return true; }) &&
         has<OutputsSoFar>(facts,
                           [](const auto& f) { return f.outputs.at(0).pieces.has_value(); }) &&
         has<JobSubmitted>(facts,
                           [](const auto& f) { return f.spec.terminal != TerminalKind::none; }) &&
         has<JobSubmitted>(facts, [](const auto& f) { return !f.sources.empty(); }) &&
         has<AssetRegistered>(facts, [](const auto& f) { return f.files.has_value(); }) &&
         has<EnvironmentLocked>(
             facts, [](const auto& f) { return f.account && f.family && *f.family == 0; }) &&
         has<EnvironmentLocked>(facts, [](const auto& f) { return f.family && *f.family != 0; });
}

// The fixture's keys are words; a journal holds keys.
struct WholeKeys {
  static void make(PublicKey& key) {
    if (!key.value.empty()) key.value.resize(40, 'k');
  }
  void operator()(NodeJoined& fact) const { make(fact.key); }
  void operator()(PartChanged& fact) const { make(fact.report.runner_key); }
  void operator()(GangFormed& fact) const {
    for (GangMember& member : fact.gang.members) make(member.runner_key);
  }
  template <typename Other>
  void operator()(Other&) const {}
};

template <typename Body>
void write_protocol(std::ostream& out) {
  test::for_each_alternative<Body>([&](const Body& body) {
    for (const char byte : wire::encode(Envelope<Body>{kProtocolVersion, 7, 3, 2500, body})) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", static_cast<unsigned char>(byte));
      out << text;
    }
    out << "\n";
  });
}

int record(const std::string& directory) {
  TestLauncher launcher;
  std::vector<StampedFact> facts = live_before(launcher);
  const std::size_t before = launcher.all_facts().size();
  live(launcher);
  live_on(launcher);
  live_in_environments(launcher);
  live_with_people(launcher);
  const auto& all = launcher.all_facts();
  facts.insert(facts.end(), all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
  if (!has_all(facts)) {
    std::fprintf(stderr, "record_data: a fact that every home must have was not made\n");
    return 1;
  }
  auto journal = Journal::open(directory + "/journal.db");
  if (!journal || !journal->replay([](const StampedFact&) {})) return 1;
  for (StampedFact fact : facts) {
    if (auto* key = std::get_if<NodeJoined>(&fact.fact))
      std::replace(key->key.value.begin(), key->key.value.end(), '_', '-');
    std::visit(WholeKeys{}, fact.fact);
    if (!journal->append({fact})) return 1;
  }
  std::ofstream jobs(directory + "/jobs.txt");
  for (const JobView& view : launcher.core->job_views())
    jobs << view.spec.name << " " << to_string(view.status) << " " << view.attempts.size() << "\n";
  std::ofstream envelopes(directory + "/envelopes.hex");
  write_protocol<AgentMessage>(envelopes);
  write_protocol<AgentReply>(envelopes);
  write_protocol<ClientRequest>(envelopes);
  write_protocol<ClientReply>(envelopes);
  write_protocol<JoinMessage>(envelopes);
  write_protocol<JoinReply>(envelopes);
  return 0;
}

}  // namespace
}  // namespace lockstep::launcher

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return lockstep::launcher::record(argv[1]);
}
