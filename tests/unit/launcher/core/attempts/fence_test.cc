// Attempts that must never run at the same time: leases, and what ends the wait for them.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/waits.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Duration kFence = seconds(100) + seconds(1) + seconds(10);  // lease, drift, margin

CoreConfig short_lease() {
  CoreConfig config;
  config.fence_lease = seconds(100);
  return config;
}

struct Fence : ::testing::Test {
  Fence() {
    job = submit("job", 1);
    launcher.observe(n1, attempt(job), PartState::running);
  }
  JobId submit(const std::string& name, int nodes) {
    JobSpec spec = job_spec(name, nodes);
    spec.retry.on_lost = OnLost::after_fence;
    return launcher.submit(spec);
  }
  // n1 is silent, and LOST 10 s after its last word.
  void lose() { launcher.pass(seconds(10), {&n2}); }

  TestLauncher launcher{short_lease()};
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  JobId job;
};

TEST_F(Fence, OnlySuchAttemptsHoldALease) {
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).lease, seconds(100));
  const JobId other = launcher.submit(job_spec("other"));
  EXPECT_EQ(launcher.assignment(n2, attempt(other)).lease, Duration::zero());
}

TEST_F(Fence, AHeartbeatIsAnsweredWithItsNumberAndWhatIsWanted) {
  Heartbeat beat{n1.id, n1.session, 0, 0, 17};
  launcher.send(HeartbeatInput{n1.key, beat});
  AckHeartbeat ack = launcher.expect_one<AckHeartbeat>();
  EXPECT_EQ(ack.number, 17U);
  const std::uint64_t wanted = launcher.core->desired_for(n1.id).revision;
  EXPECT_EQ(ack.revision, wanted);
  launcher.drop_notices();
  lose();
  launcher.restart_agent(n1, {report(attempt(job), PartState::running)});
  launcher.drop_notices();
  beat.session = n1.session;
  launcher.send(HeartbeatInput{n1.key, beat});
  EXPECT_GT(launcher.expect_one<AckHeartbeat>().revision, wanted) << "it was given up";
  launcher.drop_notices();
}

TEST_F(Fence, TheRetryWaitsUntilTheLeaseHasRunOut) {
  const Instant last_word = launcher.now;
  lose();
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(launcher.view(job).retry_at, last_word + kFence);
  const Why why = launcher.why(job);
  ASSERT_TRUE(why.is<WaitsToRetry>());
  EXPECT_EQ(why.as<WaitsToRetry>()->fenced_node, "n1");
  launcher.pass(last_word + kFence - launcher.now - seconds(1), {&n2});
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
  launcher.pass(seconds(1), {&n2});
  EXPECT_THAT(launcher.placed_on(attempt(job, 2)), ElementsAre(n2.id));
}

TEST_F(Fence, OtherJobsDoNotWait) {
  const JobId other = launcher.submit(job_spec("other"));
  launcher.observe(n2, attempt(other), PartState::running);
  launcher.pass(seconds(11), {&n1});
  const Why why = launcher.view(other).attempts[0].why;
  const auto* again = why.as<RetriedAfter>();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->then, Why(ChargedRetry{1, 3}));
  EXPECT_EQ(launcher.view(other).retry_at.ns, 0);
}

TEST_F(Fence, ANewBootIsProof) {
  lose();
  launcher.reboot(n1);
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<FenceLifted>().size(), 1U);
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, AFullReportOfANewAgentWithoutTheRunnerIsProof) {
  lose();
  launcher.restart_agent(n1, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, ARunnerThatIsStillThereIsWaitedFor) {
  lose();
  launcher.restart_agent(n1, {report(attempt(job), PartState::running)});
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, SoIsOneWhoseDirectoryIsRemoved) {
  lose();
  launcher.restart_agent(n1, {report(attempt(job), PartState::running)});
  launcher.drop_notices();
  launcher.removed(n1, attempt(job));
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, ALateCopyOfAnOpeningIsNoProof) {
  SessionOpen old = launcher.opening(n1);
  old.desired_revision = 0;  // before the part was placed
  lose();
  launcher.send(SessionInput{n1.key, old});
  launcher.expect_one<AcceptSession>();
  launcher.expect_one<AskForSession>();
  launcher.drop_notices();
  EXPECT_THAT(launcher.facts<FenceLifted>(), IsEmpty());
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
}

TEST_F(Fence, WhatTheSameAgentHadAppliedAndLacksNowIsProof) {
  const SessionOpen now_without = launcher.opening(n1);  // it has applied all that it was sent
  lose();
  launcher.send(SessionInput{n1.key, now_without});
  launcher.expect_one<AcceptSession>();
  launcher.expect_one<AskForSession>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, ARestartOfTheLauncherBeginsTheWaitAnew) {
  lose();
  launcher.pass(seconds(60), {&n2});
  launcher.restart();
  launcher.open(n2);
  launcher.drop_notices();
  const Instant restarted = launcher.now;
  launcher.pass(seconds(60), {&n2});
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
  EXPECT_GT(launcher.view(job).retry_at, restarted + seconds(100));
  launcher.pass(seconds(60), {&n2});
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, AfterARestartTheNodeMayHaveBeenHeardUntilThen) {
  launcher.restart();
  launcher.open(n2);
  launcher.drop_notices();
  const Instant restarted = launcher.now;
  launcher.pass(seconds(61), {&n2});  // reconnect_grace, then n1 is LOST
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(launcher.view(job).retry_at, restarted + kFence);
}

TEST_F(Fence, RemovingTheNodeIsNoProof) {
  lose();
  launcher.send(RemoveNodeInput{launcher.next_reply(), "n1", UserCaller{"alice"}});
  launcher.expect_one<ReplyDone>();
  launcher.expect_one<RevokeNode>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
  launcher.pass(kFence, {&n2});
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
}

TEST_F(Fence, AGangThatWasNeverFormedHasNone) {
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0)}));
  FakeNode n3 = launcher.join("n3");
  const JobId gang = submit("gang", 2);
  launcher.prepared(n1, attempt(gang));
  launcher.pass(seconds(11), {&n2, &n3});
  launcher.finished(n2, attempt(gang), node_failure(Cause::canceled, "stopped"));
  EXPECT_THAT(launcher.placed_on(attempt(gang, 2)), ::testing::UnorderedElementsAre(n2.id, n3.id));
}

TEST_F(Fence, ACanceledJobWaitsForNothing) {
  lose();
  launcher.cancel(job);
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  launcher.reboot(n1);
  launcher.drop_notices();
  EXPECT_THAT(launcher.facts<FenceLifted>(), IsEmpty());
}

}  // namespace
}  // namespace lockstep::launcher
