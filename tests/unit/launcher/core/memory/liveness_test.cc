// ALIVE, UNKNOWN, LOST, and the clocks behind them.

#include "launcher/core/memory/liveness.h"

#include "common/domain/why/all/find.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Liveness, ThreeMissedHeartbeatsMakeUnknownAndTheTimeOutMakesLost) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.pass(milliseconds(2900));
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
  launcher.pass(milliseconds(200));
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.pass(milliseconds(6800));
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.pass(milliseconds(200));
  EXPECT_EQ(launcher.liveness(n1), Liveness::lost);
  EXPECT_NE(find_reason<NodeIsLost>(launcher.core->node_view("n1")->why), nullptr);
}

TEST(Liveness, TheSilenceOfANodeKeepsCounting) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const auto why = [&] { return launcher.core->node_view("n1")->why; };
  launcher.pass(seconds(5));
  EXPECT_EQ(why(), Why(NodeSilent{NodeUnheard{}, seconds(5)}));
  launcher.pass(seconds(120));
  const Why later = why();
  ASSERT_TRUE(later.is<NodeSilent>());
  EXPECT_TRUE(later.as<NodeSilent>()->why.is<NodeIsLost>());
  EXPECT_EQ(later.as<NodeSilent>()->silent_for, seconds(125));
}

TEST(Liveness, MessagesThatCannotBeReadAreTheReasonUntilOneCan) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const std::string why =
      "control message: has protocol version 2, but this program speaks version 1";
  launcher.send(UnreadInput{n1.key, why});
  launcher.pass(seconds(5));
  const auto of_node = [&] { return launcher.core->node_view("n1")->why; };
  EXPECT_EQ(of_node(), Why(NodeSilent{NodeNotUnderstood{why}, seconds(5)}));
  const JobId job = launcher.submit(job_spec("job"));
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("n1 "));
  EXPECT_THAT(launcher.view(job).reason, HasSubstr(why));
  launcher.drop_notices();
  launcher.beat(n1);
  launcher.drop_notices();
  EXPECT_EQ(of_node(), Why());
  launcher.send(UnreadInput{PublicKey(std::string(40, 'x')), why});
  EXPECT_EQ(of_node(), Why()) << "nobody's key";
}

TEST(Liveness, ANodeTellsItsClockWithEachHeartbeat) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const auto ahead = [&] { return launcher.core->node_view("n1").value().clock_ahead; };
  EXPECT_EQ(ahead(), Duration(0));
  Heartbeat beat{n1.id, n1.session, 0, n1.sequence, 0};
  beat.wall_clock = launcher.now - minutes(24 * 60);
  launcher.send(HeartbeatInput{n1.key, beat});
  launcher.take<AckHeartbeat>();
  EXPECT_EQ(ahead(), -minutes(24 * 60));
  beat.wall_clock = launcher.now + seconds(7);
  launcher.send(HeartbeatInput{n1.key, beat});
  launcher.take<AckHeartbeat>();
  EXPECT_EQ(ahead(), seconds(7));
  beat.wall_clock = {};  // an earlier agent
  launcher.send(HeartbeatInput{n1.key, beat});
  launcher.take<AckHeartbeat>();
  EXPECT_EQ(ahead(), seconds(7));
}

TEST(Liveness, DeadlinesAloneAreEnoughToFindANodeLost) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const Instant start = launcher.now;
  int steps = 0;
  while (launcher.liveness(n1) != Liveness::lost && ++steps < 100) {
    launcher.now = launcher.core->next_deadline();
    launcher.tick();
  }
  EXPECT_EQ(launcher.now - start, launcher.config.node_lost_timeout);
  EXPECT_GT(launcher.core->next_deadline(), launcher.now + minutes(60))
      << "nothing more is due but that its join token is forgotten";
}

TEST(Liveness, AnUnknownNodeGetsNothingNewAndKeepsWhatItRuns) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.pass(seconds(4), {&n2});
  ASSERT_EQ(launcher.liveness(n1), Liveness::unknown);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  const JobId pair = launcher.submit(job_spec("pair", 2));
  EXPECT_THAT(launcher.view(pair).reason, HasSubstr("n1 is UNKNOWN"));
  launcher.beat(n1);
  launcher.drop_notices();
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
}

TEST(Liveness, ALostNodeFencesItsAttemptsAndTheJobIsRetriedElsewhere) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.pass(seconds(11), {&n2});
  EXPECT_EQ(launcher.liveness(n1), Liveness::lost);
  EXPECT_EQ(launcher.placed_on(attempt(job, 2)), std::vector<NodeId>{n2.id});
  const ExitReport report = launcher.facts<AttemptEnded>().at(0).report;
  EXPECT_EQ(report.cause, Cause::node_lost);
  const auto* failed = report.why.as<NodeFailed>();
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->node, "n1");
  ASSERT_TRUE(failed->why.is<NodeNotHeard>());
  EXPECT_GE(failed->why.as<NodeNotHeard>()->silent, seconds(10));
}

TEST(Liveness, ALostNodeThatComesBackIsToldToForgetAndItsLateReportsAreRefused) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.pass(seconds(11), {&n2});
  // Its session ended with the loss: it must open again, and the full report shows the fenced part.
  launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, 1, 0}});
  EXPECT_EQ(launcher.expect_one<AskForSession>().session, n1.session);
  launcher.open(n1, {report(attempt(job), PartState::running)});
  EXPECT_NE(launcher.expect_one<AskForSession>().question, 0U) << "this opening may be late";
  launcher.drop_notices();
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
  EXPECT_THAT(launcher.core->desired_for(n1.id).assignments, IsEmpty());
  const std::size_t facts = launcher.all_facts().size();
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.status(job), JobStatus::preparing) << "the second attempt decides";
}

TEST(Liveness, ANodeGetsNothingNewBeforeWhatWasFencedOnItIsGone) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.max = 1;
  const JobId job = launcher.submit(spec);
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.pass(seconds(11));
  launcher.restart_agent(n1, {report(attempt(job), PartState::running)});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_THAT(launcher.view(job).reason,
              HasSubstr("is still stopping an attempt from before it was LOST"));
  launcher.removed(n1, attempt(job));
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
}

TEST(Liveness, TimeInWhichTheLauncherSleptIsHeldAgainstNobody) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.pass(milliseconds(500));
  launcher.tick(minutes(10));
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
  launcher.pass(seconds(3));
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown) << "the clock goes on from there";
  launcher.tick(minutes(10));
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.pass(seconds(7));
  EXPECT_EQ(launcher.liveness(n1), Liveness::lost);
}

TEST(Liveness, ANodeThatJoinedAndNeverSpokeIsLostToo) {
  TestLauncher launcher;
  launcher.send(JoinInput{launcher.next_reply(), sha256("token"), PublicKey("mute"), "mute"});
  launcher.take<AllowNode>();
  launcher.take<ReplyJoined>();
  EXPECT_EQ(launcher.core->node_view("mute")->why, Why(NodeNeverReported{}));
  launcher.pass(seconds(11));
  EXPECT_EQ(launcher.core->node_view("mute").value().liveness, Liveness::lost);
}

TEST(Liveness, AfterALauncherStartNodesAreUnknownUntilTheirFullReport) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.restart();
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.send(HeartbeatInput{n1.key, {n1.id, n1.session, 1, 0}});
  launcher.expect_one<AskForSession>();
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown) << "a heartbeat is no full report";
  launcher.open(n1);
  EXPECT_EQ(launcher.liveness(n1), Liveness::alive);
}

TEST(Liveness, AfterALauncherStartNothingIsLostBeforeTheGraceTime) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.restart(minutes(30));
  launcher.open(n2);
  launcher.pass(seconds(59));
  EXPECT_EQ(launcher.liveness(n1), Liveness::unknown);
  EXPECT_EQ(launcher.liveness(n2), Liveness::unknown) << "it came back and fell silent";
  launcher.pass(seconds(2));
  EXPECT_EQ(launcher.liveness(n1), Liveness::lost);
  EXPECT_EQ(launcher.liveness(n2), Liveness::lost);
}

TEST(PolledClockTest, CountsNothingOfAStallAndGoesOnWhenOneFollowsAnother) {
  PolledClock clock(seconds(1));
  const Instant start{1'000'000'000'000};
  clock.advance(start);
  clock.advance(start + milliseconds(1200));
  EXPECT_EQ(clock.polled(), start + milliseconds(1200)) << "an ordinary delay";
  clock.advance(start + milliseconds(11200));
  EXPECT_EQ(clock.polled(), start + milliseconds(1200));
  EXPECT_EQ(clock.real(start + milliseconds(2200)), start + milliseconds(12200));
  clock.advance(start + milliseconds(13200));
  EXPECT_EQ(clock.polled(), start + milliseconds(2200)) << "overloaded: slow, not frozen";
  clock.advance(start);
  EXPECT_EQ(clock.last(), start + milliseconds(13200)) << "time never goes back";
}

}  // namespace
}  // namespace lockstep::launcher
