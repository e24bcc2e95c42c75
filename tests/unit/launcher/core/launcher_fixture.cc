#include "tests/unit/launcher/core/launcher_fixture.h"

#include <algorithm>

#include "launcher/core/invariants.h"
#include "launcher/state/compact.h"
#include "launcher/words/jobs/say_explain.h"

namespace lockstep::launcher {

namespace {

const Digest kToken = sha256("token");
constexpr Instant kStart{1'700'000'000'000'000'000};

}  // namespace

Inventory inventory(int cpus, Bytes memory, int gpus) {
  Inventory inventory;
  for (int i = 0; i < cpus; ++i) inventory.cpus.push_back(i);
  inventory.memory = memory;
  for (int i = 0; i < gpus; ++i) {
    GpuDevice gpu;
    gpu.index = i;
    inventory.gpus.push_back(gpu);
  }
  inventory.network = "local";
  return inventory;
}

JobSpec job_spec(std::string name, int nodes, int ranks) {
  JobSpec spec;
  spec.name = std::move(name);
  spec.command = Argv{{"true"}};
  spec.resources.instance_count = nodes;
  spec.distribution.processes_per_node = ranks;
  spec.submitter = "alice";
  spec.retry.backoff = Duration::zero();  // its own tests set it
  return spec;
}

RankExit rank_exit(int rank, Cause cause, int code, Instant time) {
  RankExit exit;
  exit.rank = rank;
  exit.cause = cause;
  if (cause == Cause::signal || cause == Cause::out_of_memory)
    exit.signal = code;
  else
    exit.exit_code = code;
  exit.time = time;
  return exit;
}

RankExit terminated(int rank, Instant time) {
  RankExit exit = rank_exit(rank, Cause::signal, 15, time);
  exit.terminated_by_us = true;
  return exit;
}

NodeExitReport node_exit(std::vector<RankExit> ranks) {
  NodeExitReport exit;
  exit.started = kStart;
  const RankExit* first = nullptr;
  for (const RankExit& rank : ranks) {
    exit.ended = std::max(exit.ended, rank.time);
    if (rank.cause == Cause::completed || rank.terminated_by_us) continue;
    if (first == nullptr || rank.time < first->time) first = &rank;
  }
  if (first != nullptr) {
    exit.cause = first->cause;
    exit.first_failed_rank = first->rank;
  }
  exit.ranks = std::move(ranks);
  return exit;
}

NodeExitReport node_failure(Cause cause, std::string message) {
  NodeExitReport exit;
  exit.cause = cause;
  exit.why = told(std::move(message));
  exit.ended = kStart;
  return exit;
}

AttemptId attempt(const JobId& job, std::uint32_t number) { return {job, number}; }

PartReport report(const AttemptId& attempt, PartState state) {
  PartReport report;
  report.attempt = attempt;
  report.state = state;
  return report;
}

TestLauncher::TestLauncher(CoreConfig c) : config(c), now(kStart), replica_(c) {
  core.emplace(config);
  core->recovered(now);
  send(TokenInput{{}, kToken, now + std::chrono::hours(24), 1'000'000});
  take<ReplyDone>();
}

// Whatever a test went through, its facts can be compacted.
void TestLauncher::check_compaction() {
  const std::vector<StampedFact> compacted = compact(facts_);
  std::size_t users = 0;
  for (const auto& [name, pool] : core->state().shares().pools()) users += pool.users.size();
  EXPECT_LE(compacted.size(), facts_.size() + core->state().nodes().size() + users + 1);
  Core again(config);
  for (const StampedFact& fact : compacted) again.replay(fact);
  EXPECT_TRUE(again.state() == core->state()) << "the compacted facts give another state";
  EXPECT_TRUE(compact(compacted) == compacted) << "compacting once more changes them again";
}

TestLauncher::~TestLauncher() {
  check_consumed("at the end");
  check_compaction();
}

void TestLauncher::check_consumed(const char* when) {
  if (actions_.empty()) return;
  std::string kinds;
  for (const Action& action : actions_) kinds += " #" + std::to_string(action.index());
  ADD_FAILURE() << when << ", actions are left over (by their place in Action):" << kinds;
  actions_.clear();
}

void TestLauncher::check_state(std::size_t new_facts) {
  for (std::size_t i = facts_.size() - new_facts; i < facts_.size(); ++i)
    replica_.replay(facts_[i]);
  EXPECT_TRUE(core->state() == replica_.state()) << "replaying the facts gives another state";
  for (const std::string& violation : check_invariants(core->state())) ADD_FAILURE() << violation;
  EXPECT_GT(core->next_deadline(), now) << "a deadline in the past makes the daemon spin";
}

// A test that names nobody asks as the launcher itself; whom it names is an admin, unless the test
// made that user before.
void TestLauncher::fill_caller(Input& input) {
  Caller* caller = nullptr;
  std::visit(
      [&](auto& body) {
        if constexpr (requires { body.caller; }) caller = &body.caller;
      },
      input);
  if (caller == nullptr) return;
  if (std::holds_alternative<Nobody>(*caller)) *caller = LauncherItself{};
  const auto* user = std::get_if<UserCaller>(caller);
  if (user == nullptr || core->state().principals().user(user->name) != nullptr) return;
  if (core->state().principals().was_removed(user->name)) return;
  send(PrincipalInput{{}, AddUser{user->name, "", {}, {Role::admin, ""}}, LauncherItself{}});
  take<ReplyDone>();
}

void TestLauncher::send(Input input) {
  check_consumed("before the next step");
  fill_caller(input);
  Step step = core->handle(now, input);
  for (Fact& fact : step.facts) facts_.push_back({now, std::move(fact)});
  actions_ = std::move(step.actions);
  check_state(step.facts.size());
}

void TestLauncher::found(Fact fact) {
  facts_.push_back({now, std::move(fact)});
  core->replay(facts_.back());
  check_state(1);
}

void TestLauncher::tick(Duration after) {
  now = now + after;
  send(TickInput{});
}

void TestLauncher::drop_notices() {
  take<JobChanged>();
  take<SendDesired>();
  take<TreesReplaced>();
}

void TestLauncher::pass(Duration time, std::vector<FakeNode*> beating) {
  const Instant end = now + time;
  while (now < end) {
    tick(std::min(config.heartbeat_interval, end - now));
    drop_notices();
    for (FakeNode* node : beating) {
      beat(*node);
      drop_notices();
    }
  }
}

void TestLauncher::restart(Duration downtime) {
  check_consumed("before the restart");
  core.emplace(config);
  for (const StampedFact& fact : facts_) core->replay(fact);
  now = now + downtime;
  core->recovered(now);
}

// ---- nodes -------------------------------------------------------------------------------------

FakeNode TestLauncher::join(const std::string& name, Inventory has) {
  return join_with(kToken, name, std::move(has));
}

FakeNode TestLauncher::join_with(const Digest& token, const std::string& name, Inventory has) {
  FakeNode node;
  node.key = PublicKey("key-of-" + name);
  node.session = SessionId(next_session_++);
  node.inventory = std::move(has);
  node.inventory.hostname = name;
  if (node.inventory.address.empty()) node.inventory.address = "10.0.0." + name;
  if (node.inventory.host_id.empty()) node.inventory.host_id = "host-of-" + name;
  send(JoinInput{next_reply(), token, node.key, name});
  node.id = expect_one<ReplyJoined>().node;
  expect_one<AllowNode>();
  drop_notices();
  open(node);
  drop_notices();
  return node;
}

SessionOpen TestLauncher::opening(const FakeNode& node, std::vector<PartReport> parts) const {
  SessionOpen session;
  session.node = node.id;
  session.boot = node.boot;
  session.session = node.session;
  session.inventory = node.inventory;
  session.parts = std::move(parts);
  session.desired_revision = core->desired_for(node.id).revision;
  return session;
}

void TestLauncher::send_session(const FakeNode& node, std::vector<PartReport> parts) {
  send(SessionInput{node.key, opening(node, std::move(parts))});
}

void TestLauncher::open(FakeNode& node, std::vector<PartReport> parts) {
  send_session(node, std::move(parts));
  EXPECT_EQ(expect_one<AcceptSession>().node, node.id);
}

void TestLauncher::restart_agent(FakeNode& node, std::vector<PartReport> parts) {
  node.session = SessionId(next_session_++);
  node.sequence = 0;
  open(node, std::move(parts));
}

void TestLauncher::reboot(FakeNode& node, std::vector<PartReport> parts) {
  node.boot.value += "'";
  restart_agent(node, std::move(parts));
}

void TestLauncher::beat(const FakeNode& node) {
  const std::uint64_t revision = core->desired_for(node.id).revision;
  send(HeartbeatInput{node.key, {node.id, node.session, revision, node.sequence}});
  EXPECT_EQ(expect_one<AckHeartbeat>().session, node.session);
}

void TestLauncher::observe(FakeNode& node, PartReport report) {
  Observed observed{node.id, node.session, ++node.sequence, {std::move(report)}, {}};
  send(ObservedInput{node.key, std::move(observed)});
  EXPECT_EQ(expect_one<AckObserved>().sequence, node.sequence);
}

void TestLauncher::observe(FakeNode& node, const AttemptId& attempt, PartState state) {
  observe(node, report(attempt, state));
  drop_notices();
}

void TestLauncher::prepared(FakeNode& node, const AttemptId& attempt) {
  PartReport ready = report(attempt, PartState::prepared);
  ready.runner_port = static_cast<std::uint16_t>(7000 + node.id.value);
  ready.runner_key = PublicKey("runner-on-" + std::to_string(node.id.value));
  ready.master_port = 6105;
  observe(node, ready);
  drop_notices();
}

void TestLauncher::finished(FakeNode& node, const AttemptId& attempt, NodeExitReport exit) {
  PartReport end = report(attempt, PartState::finished);
  end.exit = std::move(exit);
  observe(node, end);
  drop_notices();
}

void TestLauncher::removed(FakeNode& node, const AttemptId& attempt) {
  send(ObservedInput{node.key, {node.id, node.session, ++node.sequence, {}, {attempt}}});
  expect_one<AckObserved>();
  drop_notices();
}

// ---- clients -----------------------------------------------------------------------------------

JobId TestLauncher::submit(JobSpec spec) {
  const ReplyTo to = next_reply();
  send(SubmitInput{to, "submission-" + std::to_string(to.request), std::move(spec), "generated"});
  const JobId job = expect_one<ReplySubmitted>().job;
  drop_notices();
  return job;
}

Error TestLauncher::submit_refused(JobSpec spec) {
  const ReplyTo to = next_reply();
  send(SubmitInput{to, "submission-" + std::to_string(to.request), std::move(spec), "generated"});
  ReplyRefused refused = expect_one<ReplyRefused>();
  return make_error(refused.code, refused.message);
}

void TestLauncher::cancel(const JobId& job, const std::string& by) {
  send(CancelInput{next_reply(), job, UserCaller{by}});
  expect_one<ReplyDone>();
  drop_notices();
}

void TestLauncher::run_solo(FakeNode& node, const AttemptId& attempt, NodeExitReport exit) {
  observe(node, attempt, PartState::staging);
  observe(node, attempt, PartState::prepared);
  observe(node, attempt, PartState::running);
  finished(node, attempt, std::move(exit));
}

JobView TestLauncher::view(const JobId& job) const {
  auto view = core->job_view(job);
  EXPECT_TRUE(view.has_value()) << "no job " << job.value;
  if (!view) return {};
  view->reason = words::text_of(view->why);
  for (StepView& step : view->steps) step.reason = words::text_of(step.why);
  return *std::move(view);
}

ExplainView TestLauncher::explain(const JobId& job) const {
  auto view = core->explain(job);
  EXPECT_TRUE(view.has_value()) << "no job " << job.value;
  if (!view) return {};
  for (const ExplainLine& line : view->reasons)
    if (line.why) view->lines.push_back(words::text_of(line));
  return *std::move(view);
}

std::vector<std::string> lines_for_all(const ExplainView& explained) {
  std::vector<std::string> lines;
  for (const ExplainLine& line : explained.reasons)
    if (line.for_all) lines.push_back(words::text_of(ExplainLine{line.for_all, {}, line.indent}));
  return lines;
}

Liveness TestLauncher::liveness(const FakeNode& node) const {
  return core->node_view(std::to_string(node.id.value)).value().liveness;
}

bool TestLauncher::assigned(const FakeNode& node, const AttemptId& attempt) const {
  const DesiredState desired = core->desired_for(node.id);
  return std::any_of(desired.assignments.begin(), desired.assignments.end(),
                     [&](const Assignment& assignment) { return assignment.attempt == attempt; });
}

Assignment TestLauncher::assignment(const FakeNode& node, const AttemptId& attempt) const {
  for (const Assignment& assignment : core->desired_for(node.id).assignments)
    if (assignment.attempt == attempt) return assignment;
  ADD_FAILURE() << to_string(attempt) << " is not assigned to node " << node.id.value;
  return {};
}

}  // namespace lockstep::launcher
