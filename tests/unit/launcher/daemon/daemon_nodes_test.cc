// Nodes of a real lockstepd: tokens, joins, sessions, desired state, and a job from queue to end.

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include "common/io/file_system.h"
#include "common/io/programs/run_program.h"
#include "common/wire/join_token.h"
#include "tests/unit/launcher/daemon/daemon_process.h"

namespace lockstep {
namespace {

using test::DaemonProcess;
using test::Peer;
using test::small_job;
using testing::HasSubstr;

class DaemonNodesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
    ann_.emplace(daemon_.endpoint(), user_);
  }
  wire::JoinToken new_token(int uses = 1) {
    const auto reply = ann_->ask_for<TokenReply>(CreateToken{minutes(5), uses});
    EXPECT_TRUE(reply) << daemon_.log();
    const auto token = wire::decode_join_token(reply->token);
    EXPECT_TRUE(token) << token.error().message;
    return *token;
  }
  NodeId join(Peer& node, const std::string& name = "n1") {
    const auto reply = node.join(JoinRequest{new_token().secret, name, "test"});
    const auto* accepted = reply ? std::get_if<JoinAccepted>(&*reply) : nullptr;
    EXPECT_NE(accepted, nullptr) << daemon_.log();
    return accepted ? accepted->node : NodeId();
  }
  static Inventory inventory() {
    Inventory inventory;
    inventory.hostname = "n1";
    inventory.cpus = {0, 1};
    inventory.memory = gibibytes(1);
    inventory.address = "127.0.0.1";
    inventory.address_is_loopback = true;
    inventory.host_id = "here";
    inventory.user = "root";
    return inventory;
  }
  static SessionOpen open(NodeId id, SessionId session) {
    return {id, BootId("boot"), session, "test", inventory(), {}};
  }
  // Joined, with an open session.
  NodeId bring_up(Peer& node, SessionId session = SessionId(77)) {
    const NodeId id = join(node);
    node.send(open(id, session));
    EXPECT_TRUE(node.next<SessionAccepted>()) << daemon_.log();
    return id;
  }

  DaemonProcess daemon_;
  io::KeyPair user_ = test::authorized_user(daemon_);
  std::optional<Peer> ann_;
};

TEST_F(DaemonNodesTest, ARebuildIsANewGenerationOfTheEnvironmentOnItsNode) {
  Peer node(daemon_.endpoint());
  bring_up(node);
  const auto generation = [&](const std::string& name, bool rebuild) -> std::uint64_t {
    JobSpec job = small_job(name);
    job.resources.cpus = 1;
    job.resources.memory = mebibytes(1);
    job.environment = EnvironmentSpec{"", "", VenvEnvironment{"python3", {}, {"six"}, {}}};
    EXPECT_TRUE(ann_->ask_for<SubmitReply>(Submit{name, job, rebuild})) << daemon_.log();
    std::uint64_t found = 0;
    EXPECT_TRUE(node.next<Desired>([&](const Desired& desired) {
      for (const Assignment& assignment : desired.desired.assignments) {
        if (assignment.attempt.job.value != name) continue;
        found = assignment.environment.generation;
        return true;
      }
      return false;
    }));
    return found;
  };
  EXPECT_EQ(generation("first", false), 0U);
  EXPECT_GT(generation("second", true), 0U);
}

TEST_F(DaemonNodesTest, ATokenLeadsANodeIn) {
  const auto token = new_token();
  EXPECT_EQ(token.control_endpoint, daemon_.endpoint().control);
  EXPECT_EQ(token.join_endpoint, daemon_.endpoint().join);
  EXPECT_EQ(token.launcher_key, daemon_.endpoint().public_key);
  Peer node(daemon_.endpoint());
  Peer early(daemon_.endpoint(), node.keys());
  EXPECT_FALSE(early.ask(GetStatus{}, milliseconds(300))) << "before it joined it is a stranger";
  const NodeId id = bring_up(node);
  const auto nodes = ann_->ask_for<NodesReply>(ListNodes{});
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->nodes.size(), 1u);
  EXPECT_EQ(nodes->nodes[0].id, id);
  EXPECT_EQ(nodes->nodes[0].liveness, Liveness::alive);
  EXPECT_EQ(nodes->nodes[0].inventory, inventory());
  EXPECT_EQ(ann_->ask_for<NodesReply>(ShowNode{"n1"})->nodes.size(), 1u);
  EXPECT_EQ(ann_->ask_for<Refused>(ShowNode{"n9"})->code, ErrorCode::not_found);
}

TEST_F(DaemonNodesTest, AWrongOrUsedTokenIsRefused) {
  Peer node(daemon_.endpoint());
  auto reply = node.join(JoinRequest{"guessed", "n1", "test"});
  ASSERT_TRUE(reply && std::holds_alternative<JoinRefused>(*reply));
  EXPECT_THAT(std::get<JoinRefused>(*reply).reason, HasSubstr("token"));
  const auto token = new_token(1);
  ASSERT_TRUE(node.join(JoinRequest{token.secret, "n1", "test"}));
  Peer second(daemon_.endpoint());
  reply = second.join(JoinRequest{token.secret, "n2", "test"});
  ASSERT_TRUE(reply && std::holds_alternative<JoinRefused>(*reply));
}

TEST_F(DaemonNodesTest, AUsersKeyMayNotJoin) {
  const auto reply = ann_->join(JoinRequest{new_token().secret, "n1", "test"});
  ASSERT_TRUE(reply && std::holds_alternative<JoinRefused>(*reply));
}

TEST_F(DaemonNodesTest, ANodeMayNotAskWhatUsersAsk) {
  Peer node(daemon_.endpoint());
  bring_up(node);
  for (const ClientRequest& message :
       {ClientRequest(Submit{"s", small_job("evil")}), ClientRequest(GetStatus{}),
        ClientRequest(Shutdown{true}), ClientRequest(CreateToken{})}) {
    const auto refused = node.ask_for<Refused>(message);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, ErrorCode::permission_denied);
  }
}

TEST_F(DaemonNodesTest, ANodeMayNotSpeakForAnother) {
  Peer first(daemon_.endpoint()), second(daemon_.endpoint());
  const NodeId id = join(first, "n1");
  join(second, "n2");
  second.send(open(id, SessionId(5)));
  const auto refused = second.next<SessionRefused>();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->session, SessionId(5));
}

TEST_F(DaemonNodesTest, AJobRunsToItsEnd) {
  Peer node(daemon_.endpoint());
  const SessionId session(77);
  const NodeId id = bring_up(node, session);
  ASSERT_TRUE(ann_->ask_for<SubmitReply>(Submit{"s", small_job("whole")}));
  ASSERT_TRUE(ann_->ask_for<JobReply>(WatchJob{JobId("whole")}));
  const auto desired =
      node.next<Desired>([](const Desired& m) { return !m.desired.assignments.empty(); });
  ASSERT_TRUE(desired) << daemon_.log();
  const auto& assignment = desired->desired.assignments[0];
  EXPECT_EQ(assignment.attempt, (AttemptId{JobId("whole"), 1}));

  const LogKey key{assignment.attempt, 0, LogStream::out};
  node.send_bulk(LogAppend{id, key, 0, "hello\n"});
  const auto ack = node.next_bulk<LogAck>();
  ASSERT_TRUE(ack) << daemon_.log();
  EXPECT_EQ(ack->durable, 6u);

  PartReport report;
  report.attempt = assignment.attempt;
  report.state = PartState::finished;
  report.exit.emplace();
  report.exit->ranks.emplace_back();
  report.exit->logs = {{0, 9, 0}};
  node.send(Observed{id, session, 1, {report}, {}});
  ASSERT_TRUE(node.next<ObservedAck>());
  // Finished, but its logs are not all here.
  EXPECT_EQ(ann_->ask_for<JobReply>(ShowJob{JobId("whole")})->job.status, JobStatus::finalizing);
  node.send_bulk(LogAppend{id, key, 6, "you"});
  EXPECT_EQ(node.next_bulk<LogAck>()->durable, 9u);
  EXPECT_TRUE(ann_->next<JobUpdate>([](const JobUpdate& m) {
    return m.job.status == JobStatus::completed;
  })) << daemon_.log();

  ann_->send_bulk(LogFollow{JobId("whole"), 0, {}, {}, {}, -1, true, 64, {}});
  const auto chunk = ann_->next_bulk<LogChunk>();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->data, "hello\nyou");
  EXPECT_EQ(chunk->node_name, "n1");
  EXPECT_EQ(ann_->next_bulk<LogEnd>()->status, "Completed");
}

// Of a job whose ranks never started: it ends when that log is here.
TEST_F(DaemonNodesTest, TheLogOfAnEnvironmentThatFailedIsWaitedForAndKept) {
  Peer node(daemon_.endpoint());
  const SessionId session(77);
  const NodeId id = bring_up(node, session);
  JobSpec spec = small_job("broken");
  spec.environment.emplace().definition = VenvEnvironment{"python3", {}, {"nosuch"}, {}};
  ASSERT_TRUE(ann_->ask_for<SubmitReply>(Submit{"s", spec}));
  ASSERT_TRUE(ann_->ask_for<JobReply>(WatchJob{JobId("broken")}));
  const auto desired =
      node.next<Desired>([](const Desired& m) { return !m.desired.assignments.empty(); });
  ASSERT_TRUE(desired) << daemon_.log();
  const AttemptId attempt = desired->desired.assignments[0].attempt;
  const LogKey key{attempt, 0, LogStream::environment};
  node.send_bulk(LogAppend{id, key, 0, "solving\n"});
  ASSERT_TRUE(node.next_bulk<LogAck>()) << daemon_.log();

  PartReport report;
  report.attempt = attempt;
  report.state = PartState::finished;
  report.exit.emplace();
  report.exit->cause = Cause::environment_failed;
  report.exit->why = told("no such package");
  report.exit->logs = {{0, 0, 0, 16}};
  node.send(Observed{id, session, 1, {report}, {}});
  ASSERT_TRUE(node.next<ObservedAck>());
  EXPECT_EQ(ann_->ask_for<JobReply>(ShowJob{JobId("broken")})->job.status, JobStatus::finalizing);
  node.send_bulk(LogAppend{id, key, 8, "failed!\n"});
  EXPECT_EQ(node.next_bulk<LogAck>()->durable, 16u);
  EXPECT_TRUE(ann_->next<JobUpdate>([](const JobUpdate& m) {
    return m.job.status == JobStatus::failed;
  })) << daemon_.log();

  LogFollow follow;
  follow.job = JobId("broken");
  follow.stream = LogStream::environment;
  ann_->send_bulk(follow);
  const auto chunk = ann_->next_bulk<LogChunk>();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->key, key);
  EXPECT_EQ(chunk->data, "solving\nfailed!\n");
  EXPECT_EQ(chunk->node_name, "n1");
  EXPECT_EQ(ann_->next_bulk<LogEnd>()->status, "Failed");

  daemon_.signal(SIGTERM);
  const auto fsck = [this] {
    return io::run_program({LOCKSTEPD, "fsck", "--home", daemon_.home().path()}, test::kTimeout);
  };
  EXPECT_EQ(fsck()->exit_code, 0) << fsck()->text;
  const std::string path = daemon_.home().logs() + "/broken/1/node_0.environment";
  ASSERT_EQ(::truncate(path.c_str(), 10), 0);
  EXPECT_EQ(fsck()->exit_code, 1);
  EXPECT_THAT(fsck()->text, HasSubstr("job broken, attempt 1, environment on node 0: " + path +
                                      " has 10 of 16 bytes"));
}

// Names of folders are not all the launcher's own: what another account could make there is shown.
TEST_F(DaemonNodesTest, FsckShowsHostileNamesWithoutObeyingThem) {
  daemon_.signal(SIGTERM);
  const std::string csi = "\xC2\x9B", override = "\xE2\x80\xAE";
  const std::string name = "odd\x1B]0;mine\x07" + csi + "2J" + override + "\nproblem: forged";
  ASSERT_TRUE(io::make_directories(daemon_.home().logs() + "/" + name + "/1"));
  for (const char* format : {"text", "json"}) {
    const auto fsck = io::run_program(
        {LOCKSTEPD, "fsck", "--home", daemon_.home().path(), "-o", format}, test::kTimeout);
    ASSERT_TRUE(fsck);
    EXPECT_EQ(fsck->exit_code, 0) << fsck->text << fsck->errors;
    EXPECT_THAT(fsck->text, HasSubstr("logs of a job that the journal does not know")) << format;
    for (const std::string& bad : {csi, override, std::string("\x1B"), std::string("\x07")})
      EXPECT_EQ(fsck->text.find(bad), std::string::npos) << format << ": " << fsck->text;
    EXPECT_EQ(fsck->text.find("\nproblem: forged"), std::string::npos) << fsck->text;
  }
}

TEST_F(DaemonNodesTest, AfterAKillTheNodeIsAskedForItsSessionAndGoesOn) {
  Peer node(daemon_.endpoint());
  const SessionId session(77);
  const NodeId id = bring_up(node, session);
  ASSERT_TRUE(ann_->ask_for<SubmitReply>(Submit{"s", small_job("long")}));
  ASSERT_TRUE(node.next<Desired>([](const Desired& m) { return !m.desired.assignments.empty(); }));
  daemon_.signal(SIGKILL);
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  node.send(Heartbeat{id, session, 1, 0});
  ASSERT_TRUE(node.next<SessionLost>()) << "the new process does not know the session";
  node.send(open(id, session));
  const auto accepted = node.next<SessionAccepted>();
  ASSERT_TRUE(accepted);
  ASSERT_EQ(accepted->desired.assignments.size(), 1u) << "the job is still wanted";
  EXPECT_EQ(accepted->desired.assignments[0].attempt.job, JobId("long"));
}

TEST_F(DaemonNodesTest, ARemovedNodeIsToldSoAndLetInNoMore) {
  Peer node(daemon_.endpoint());
  const NodeId id = bring_up(node);
  const auto alive = ann_->ask_for<Refused>(RemoveNode{"n1"});
  ASSERT_TRUE(alive);
  EXPECT_EQ(alive->code, ErrorCode::conflict);
  ASSERT_TRUE(ann_->wait(
      [&] {
        const auto nodes = ann_->ask_for<NodesReply>(ListNodes{});
        return nodes && nodes->nodes.at(0).liveness != Liveness::alive;
      },
      test::kTimeout));
  ASSERT_TRUE(ann_->ask_for<Done>(RemoveNode{"n1"})) << daemon_.log();
  EXPECT_TRUE(ann_->ask_for<NodesReply>(ListNodes{})->nodes.empty());
  EXPECT_TRUE(ann_->ask_for<Done>(RemoveNode{"n1"})) << "asked again";
  // Over the connection that it still has, and over a new one, of the next launcher too.
  node.send(Heartbeat{id, SessionId(77), 1, 0});
  const auto told = node.next<SessionRefused>();
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->removed);
  EXPECT_THAT(told->reason, HasSubstr("node n1 was removed from this launcher by ann"));
  daemon_.signal(SIGKILL);
  ASSERT_TRUE(daemon_.start({"--allow-root"})) << daemon_.log();
  Peer back(daemon_.endpoint(), node.keys());
  back.send(open(id, SessionId(78)));
  const auto again = back.next<SessionRefused>();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->removed);
  EXPECT_EQ(back.ask_for<Refused>(GetStatus{})->code, ErrorCode::permission_denied);
  const auto rejoin = back.join(JoinRequest{new_token().secret, "n1", "test"});
  ASSERT_TRUE(rejoin && std::holds_alternative<JoinRefused>(*rejoin));
  Peer fresh(daemon_.endpoint());
  EXPECT_GT(join(fresh), id) << "its name is free, its id is not";
}

TEST_F(DaemonNodesTest, DrainAndResume) {
  Peer node(daemon_.endpoint());
  bring_up(node);
  ASSERT_TRUE(ann_->ask_for<Done>(DrainNode{"n1", true, "new disk"}));
  EXPECT_TRUE(ann_->ask_for<NodesReply>(ListNodes{})->nodes[0].draining);
  ASSERT_TRUE(ann_->ask_for<Done>(DrainNode{"n1", false, ""}));
  EXPECT_FALSE(ann_->ask_for<NodesReply>(ListNodes{})->nodes[0].draining);
}

}  // namespace
}  // namespace lockstep
