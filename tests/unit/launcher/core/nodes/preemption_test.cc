// A machine that is taken away with notice: nothing new is placed there, what runs is stopped with
// grace, and is queued again.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/ranks/parts.h"
#include "launcher/core/attempts/retry.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A heartbeat that says that the node is taken away.
void notice(TestLauncher& launcher, const FakeNode& node, Duration left,
            const std::string& reason = "spot") {
  Heartbeat beat{node.id, node.session, launcher.core->desired_for(node.id).revision,
                 node.sequence};
  beat.notice = PreemptionNotice{left, reason};
  launcher.send(HeartbeatInput{node.key, std::move(beat)});
  launcher.expect_one<AckHeartbeat>();
  launcher.drop_notices();
}

NodeExitReport stopped(RankExit rank) {
  NodeExitReport report = node_exit({std::move(rank)});
  report.cause = Cause::canceled;
  report.first_failed_rank.reset();
  report.why = StoppedByOrder{StopReason::superseded};
  return report;
}

TEST(Preemption, StopsWhatRunsWithinTheTimeAndQueuesItAgain) {
  CoreConfig config;
  config.stop_grace = seconds(10);
  TestLauncher launcher(config);
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  notice(launcher, n1, seconds(9));
  const Assignment told = launcher.assignment(n1, attempt(job));
  EXPECT_EQ(told.phase, WantedPhase::stop);
  EXPECT_EQ(told.stop_reason, StopReason::superseded);
  EXPECT_EQ(told.grace, seconds(6)) << "a third is kept for collecting";
  notice(launcher, n1, seconds(8));
  EXPECT_EQ(launcher.facts<NodeNoticed>().size(), 1U);
  EXPECT_EQ(launcher.facts<AttemptDoomed>().size(), 1U);
  launcher.finished(n1, attempt(job), stopped(terminated(0)));
  const auto requeued = launcher.facts<JobRequeued>();
  ASSERT_EQ(requeued.size(), 1U);
  EXPECT_TRUE(requeued.front().charged) << "its machine is not low_priority";
  EXPECT_TRUE(requeued.front().why.is<ChargedRetry>());
  EXPECT_EQ(launcher.facts<AttemptEnded>().front().report.why,
            Why(NodePreempted{"n1", lockstep::told("spot")}));
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("n1 is taken away at"));
  EXPECT_EQ(launcher.facts<AttemptPlaced>().size(), 1U) << "nothing new is placed there";
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<AttemptPlaced>().size(), 2U) << "its agent says nothing of it any more";
}

TEST(Preemption, ANodeThatLeavesIsNotSaidToTakeWorkAgain) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  notice(launcher, n1, seconds(60));
  launcher.send(DrainInput{launcher.next_reply(), "n1", false, ""});
  EXPECT_THAT(launcher.expect_one<ReplyDone>().message,
              HasSubstr("takes no work, because its machine is taken away: spot"));
}

TEST(Preemption, AJobsOwnGraceIsCutToWhatANoticeLeaves) {
  CoreConfig config;
  config.stop_grace = seconds(10);
  TestLauncher launcher(config);
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.stop.grace = minutes(5);
  const JobId job = launcher.submit(spec);
  launcher.observe(n1, attempt(job), PartState::running);
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).grace, minutes(5));
  notice(launcher, n1, seconds(120));
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).grace, seconds(110));
}

TEST(Preemption, LongNoticesLeaveTheOrdinaryGrace) {
  CoreConfig config;
  config.stop_grace = seconds(10);
  TestLauncher launcher(config);
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  notice(launcher, n1, seconds(120));
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).grace, seconds(10));
}

TEST(Preemption, AJobThatCompletesInTimeIsCompleted) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  notice(launcher, n1, seconds(30));
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

// Slurm signals the ranks itself, so they may seem to fail by themselves.
TEST(Preemption, WhatRanksDoThenIsNotTheJobsFault) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.max = 1;
  const JobId job = launcher.submit(spec);
  launcher.observe(n1, attempt(job), PartState::running);
  notice(launcher, n1, seconds(30));
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0, Cause::signal, 15)}));
  ASSERT_EQ(launcher.facts<AttemptEnded>().size(), 1U);
  EXPECT_EQ(launcher.facts<AttemptEnded>().front().report.cause, Cause::preempted);
  EXPECT_EQ(launcher.facts<JobRequeued>().size(), 1U);
}

TEST(Preemption, StopsTheGangOnAllItsNodes) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("pair", 2));
  launcher.prepared(n1, attempt(job));
  launcher.prepared(n2, attempt(job));
  launcher.drop_notices();
  notice(launcher, n2, seconds(30));
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).phase, WantedPhase::stop);
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).grace,
            launcher.assignment(n2, attempt(job)).grace);
}

TEST(Preemption, ASessionThatSaysSoGetsNoWork) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  notice(launcher, n1, seconds(60));
  launcher.restart();
  SessionOpen open = launcher.opening(n1);
  open.notice = PreemptionNotice{seconds(50), "spot"};
  launcher.send(SessionInput{n1.key, open});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  const JobId job = launcher.submit(job_spec("job"));
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_THAT(launcher.facts<AttemptPlaced>(), IsEmpty());
}

TEST(Preemption, IsNotChargedOnLowPriorityMachines) {
  ExitReport report;
  report.cause = Cause::preempted;
  Job job;
  job.charged_retries = 100;
  const auto retry = retry_after(job, report, Tier::low_priority);
  ASSERT_TRUE(retry.has_value());
  EXPECT_FALSE(retry->charged);
  EXPECT_FALSE(retry_after(job, report, Tier::dedicated).has_value());
  job.charged_retries = 0;
  job.spec.retry.on = {RetryOn::node_lost};
  EXPECT_TRUE(retry_after(job, report, Tier::dedicated).has_value());
}

// The second agent of a machine may join while the job is alone there.
TEST(Isolation, ANodeThatJoinsBesideAnIsolatedJobWaitsForItsEnd) {
  TestLauncher launcher;
  Inventory shared = inventory();
  shared.host_id = "machine-1";
  FakeNode n1 = launcher.join("n1", shared);
  JobSpec alone = job_spec("alone");
  alone.resources.isolated = true;
  const JobId first = launcher.submit(alone);
  EXPECT_THAT(launcher.placed_on(attempt(first)), ElementsAre(n1.id));
  FakeNode n2 = launcher.join("n2", shared);
  const JobId second = launcher.submit(job_spec("second"));
  EXPECT_EQ(launcher.status(second), JobStatus::queued);
  EXPECT_THAT(launcher.explain(second).lines,
              ::testing::Contains(HasSubstr("n2 shares its machine with node n1, which runs "
                                            "alone.1, an isolated job")));
  launcher.run_solo(n1, attempt(first), node_exit({rank_exit(0)}));
  launcher.drop_notices();
  EXPECT_EQ(launcher.placed_on(attempt(second)).size(), 1U);
}

}  // namespace
}  // namespace lockstep::launcher
