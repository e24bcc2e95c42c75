// Who speaks for a node, and what a full report proves.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/nodes/losses.h"
#include "common/domain/why/nodes/nodes.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Session : ::testing::Test {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobId job;
  AttemptId first;

  void run_job() {
    job = launcher.submit(job_spec("job"));
    first = attempt(job);
    launcher.observe(n1, first, PartState::running);
  }
};

TEST_F(Session, OfAnUnknownKeyIsRefused) {
  FakeNode stranger = n1;
  stranger.key = PublicKey("stranger");
  launcher.send_session(stranger);
  EXPECT_EQ(launcher.expect_one<RefuseSession>().why, Why(KeyNotKnown{}));
}

TEST_F(Session, ThatClaimsAnotherNodesIdIsRefused) {
  FakeNode liar = launcher.join("n2");
  liar.id = n1.id;
  launcher.send_session(liar);
  const Why why = launcher.expect_one<RefuseSession>().why;
  ASSERT_TRUE(why.is<KeyOfAnother>());
  EXPECT_EQ(why.as<KeyOfAnother>()->node, "n2");
  EXPECT_EQ(why.as<KeyOfAnother>()->claimed, n1.id);
}

TEST_F(Session, ANewOneAloneProvesNothing) {
  run_job();
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
}

TEST_F(Session, AnAgentRestartedTwiceInARowLosesNothing) {
  run_job();
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  launcher.finished(n1, first, node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, AFullReportThatLacksAKnownPartProvesItsRunnerGone) {
  run_job();
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<PartGone>().at(0).cause, Cause::runner_lost);
  EXPECT_EQ(launcher.placed_on(attempt(job, 2)), std::vector<NodeId>{n1.id});
}

TEST_F(Session, APartTheNodeNeverSpokeOfIsSimplySentAgain) {
  job = launcher.submit(job_spec("job"));
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
  EXPECT_TRUE(launcher.assigned(n1, attempt(job)));
}

TEST_F(Session, ADoubledOpeningProvesNothing) {
  run_job();
  launcher.open(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::running) << "it was written before the part began";
}

TEST_F(Session, ARebootFasterThanTheHeartbeatEndsWhatRanAndRetriesIt) {
  run_job();
  launcher.reboot(n1);
  launcher.drop_notices();
  const ExitReport report = launcher.facts<AttemptEnded>().at(0).report;
  EXPECT_EQ(report.cause, Cause::node_lost);
  EXPECT_EQ(report.why, Why(NodeFailed{"n1", Cause::node_lost, NodeRebooted{}}));
  EXPECT_TRUE(launcher.assigned(n1, attempt(job, 2)));
  launcher.run_solo(n1, attempt(job, 2), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, ARebootEndsEvenAPartThatWasNeverReported) {
  job = launcher.submit(job_spec("job"));
  launcher.reboot(n1);
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<PartGone>().size(), 1U) << "it may have run before the reboot";
}

TEST_F(Session, WhatFinishedBeforeARebootCounts) {
  run_job();
  PartReport end = report(first, PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  launcher.reboot(n1, {end});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST_F(Session, LogsThatAFullReportNoLongerHasAreGivenUp) {
  run_job();
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 9, 0}};
  launcher.finished(n1, first, exit);
  launcher.expect_one<AwaitLogs>();
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

// The copy lists nothing, for it was written before the job was placed. The job's ranks still run.
TEST_F(Session, ALateOpeningOfALostNodeBringsItNoWorkBeforeItIsAsked) {
  const SessionOpen late = launcher.opening(n1);
  run_job();
  launcher.drop_notices();
  launcher.pass(seconds(12));
  launcher.drop_notices();
  ASSERT_EQ(launcher.liveness(n1), Liveness::lost);
  launcher.send(SessionInput{n1.key, late});
  launcher.expect_one<AcceptSession>();
  const std::uint64_t question = launcher.expect_one<AskForSession>().question;
  EXPECT_NE(question, 0U);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::queued) << "what runs there is not known";
  EXPECT_EQ(launcher.core->node_view("n1")->why, Why(NodeAskedWhatRuns{}));
  SessionOpen answer = launcher.opening(n1, {report(first, PartState::running)});
  answer.answers = question;
  launcher.send(SessionInput{n1.key, answer});
  launcher.expect_one<AcceptSession>();
  launcher.take<AskForSession>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::queued) << "it still stops what ran there";
  launcher.removed(n1, first);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
}

TEST_F(Session, LateMessagesOfAReplacedOneAreIgnored) {
  run_job();
  const FakeNode before = n1;
  launcher.restart_agent(n1, {report(first, PartState::running)});
  launcher.drop_notices();
  const std::size_t facts = launcher.all_facts().size();
  launcher.send_session(before);
  launcher.send(HeartbeatInput{before.key, {before.id, before.session, 0, 0}});
  PartReport end = report(first, PartState::finished);
  end.exit = node_exit({rank_exit(0, Cause::exit_code, 1)});
  launcher.send(ObservedInput{before.key, {before.id, before.session, 9, {end}, {}}});
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
}

// An agent was started twice in a row, and the first start's word was on its way for long.
TEST_F(Session, OneOfAnEarlierStartThatWasNeverAcceptedIsIgnored) {
  run_job();
  FakeNode earlier = n1, later = n1;
  earlier.session = SessionId(n1.session.value + 1);
  later.session = SessionId(n1.session.value + 2);
  launcher.open(later, {report(first, PartState::running)});
  launcher.drop_notices();
  const std::size_t facts = launcher.all_facts().size();
  launcher.send_session(earlier);
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  launcher.beat(later);
  launcher.drop_notices();
}

TEST_F(Session, TwoThatBothGoOnTalkingAreAClonedImageAndBothAreRefused) {
  FakeNode clone = n1;
  clone.session = SessionId(0xc10e);
  clone.boot = BootId("boot-of-the-clone");
  launcher.open(clone);
  launcher.drop_notices();
  std::vector<RefuseSession> refused;
  for (int second = 0; second < 30 && refused.empty(); ++second) {
    launcher.tick(seconds(1));
    launcher.drop_notices();
    launcher.beat(clone);
    launcher.drop_notices();
    launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, 0, 0}});
    refused = launcher.take<RefuseSession>();
  }
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_NE(refused[0].session, refused[1].session);
  ASSERT_TRUE(refused[0].why.is<NodeCloned>());
  EXPECT_EQ(refused[0].why.as<NodeCloned>()->node, "n1");
  EXPECT_TRUE(launcher.core->node_view("n1")->why.is<NodeCloned>());
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.send_session(clone);
  launcher.expect_one<RefuseSession>();
  // One of them is started again: that one is the node.
  launcher.restart_agent(n1, {});
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
}

NodeFabric fabric_with(const std::string& interface) {
  NodeFabric fabric;
  FabricInterface& one = fabric.interfaces.emplace_back();
  one.name = interface;
  one.addresses = {{"10.1.0.4", 24}};
  one.mtu = 1'500;
  return fabric;
}

// An agent looks at its network while it runs, and tells what changed by a full report of the
// session that it has.
TEST_F(Session, AChangedNetworkIsTakenFromALaterReportOfTheSameSession) {
  run_job();
  SessionOpen open = launcher.opening(n1, {report(first, PartState::running)});
  open.inventory.fabric = fabric_with("eth0");
  open.inventory_number = 1;
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->node_view("n1")->inventory.fabric, fabric_with("eth0"));

  const SessionOpen earlier = open;
  open.inventory.fabric = fabric_with("eth1");
  open.inventory.rdma_ports = {{"mlx5_0", 1, "ACTIVE", 200, "InfiniBand", "", {}}};
  open.inventory.cpus = {0};  // what an agent offers is settled at its start
  open.inventory_number = 2;
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  const Inventory now = launcher.core->node_view("n1")->inventory;
  EXPECT_EQ(now.fabric, fabric_with("eth1"));
  EXPECT_EQ(now.rdma_ports, open.inventory.rdma_ports);
  EXPECT_EQ(now.cpus, n1.inventory.cpus);
  EXPECT_EQ(launcher.status(job), JobStatus::running);

  const std::size_t facts = launcher.all_facts().size();
  for (const SessionOpen& again : {earlier, open}) {  // a late copy, and a doubled one
    launcher.send(SessionInput{n1.key, again});
    launcher.expect_one<AcceptSession>();
    launcher.drop_notices();
  }
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.core->node_view("n1")->inventory.fabric, fabric_with("eth1"));
}

TEST_F(Session, AChangedNetworkOutlivesTheLauncher) {
  SessionOpen open = launcher.opening(n1);
  open.inventory.fabric = fabric_with("eth1");
  open.inventory_number = 7;
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  launcher.restart();
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->node_view("n1")->inventory.fabric, fabric_with("eth1"));
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  open.inventory.fabric = fabric_with("eth2");
  open.inventory_number = 8;
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.core->node_view("n1")->inventory.fabric, fabric_with("eth2"));
}

TEST_F(Session, AChangedNetworkForgetsNoNoticeThatTheMachineIsTaken) {
  SessionOpen open = launcher.opening(n1);
  open.notice = PreemptionNotice{minutes(5), "spot"};
  for (const char* interface : {"eth0", "eth1"}) {
    open.inventory.fabric = fabric_with(interface);
    ++open.inventory_number;
    launcher.send(SessionInput{n1.key, open});
    launcher.expect_one<AcceptSession>();
    launcher.drop_notices();
    EXPECT_TRUE(launcher.core->node_view("n1")->draining) << interface;
  }
}

// Its provider says it once, and its agent knows nothing of it.
TEST_F(Session, AChangedNetworkForgetsNoNoticeOfTheProvider) {
  SessionOpen open = launcher.opening(n1);
  open.inventory.fabric = fabric_with("eth0");
  open.inventory_number = 1;
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  Heartbeat beat{n1.id, n1.session, launcher.core->desired_for(n1.id).revision, n1.sequence};
  beat.notice = PreemptionNotice{minutes(5), "its provider says so"};
  launcher.send(HeartbeatInput{n1.key, beat});
  launcher.expect_one<AckHeartbeat>();
  launcher.drop_notices();
  const Instant until = launcher.core->state().node(n1.id)->notice->until;
  open.inventory.fabric = fabric_with("eth1");
  open.inventory_number = 2;
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  const Node& node = *launcher.core->state().node(n1.id);
  EXPECT_EQ(node.inventory.fabric, fabric_with("eth1"));
  ASSERT_TRUE(node.notice);
  EXPECT_EQ(node.notice->until, until);
  EXPECT_EQ(node.notice->why, told("its provider says so"));
}

TEST_F(Session, AHeartbeatBehindTheDesiredRevisionGetsItAgain) {
  launcher.submit(job_spec("job"));
  const std::uint64_t revision = launcher.core->desired_for(n1.id).revision;
  launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, revision - 1, 0}});
  launcher.expect_one<AckHeartbeat>();
  EXPECT_EQ(launcher.expect_one<SendDesired>().node, n1.id);
  launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, revision, 0}});
  launcher.expect_one<AckHeartbeat>();
}

TEST_F(Session, ReportsOfAttemptsThatAreNotTheNodesAreIgnored) {
  FakeNode n2 = launcher.join("n2");
  run_job();
  const std::size_t facts = launcher.all_facts().size();
  launcher.finished(n2, first, node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.expect_one<ReportRefused>().node, n2.id) << "for the audit";
  launcher.finished(n1, attempt(job, 7), node_exit({rank_exit(0)}));
  launcher.finished(n1, attempt(JobId("ghost")), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.all_facts().size(), facts);
}

}  // namespace
}  // namespace lockstep::launcher
