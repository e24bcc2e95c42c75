// Which job goes first: priority, then the user with the least share, then order of submission.

#include "common/domain/why/jobs/waits.h"
#include "launcher/state/people/fair_share.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

JobSpec with_priority(const std::string& name, Priority priority) {
  JobSpec spec = job_spec(name);
  spec.queue.priority = priority;
  return spec;
}

JobSpec of_user(const std::string& name, const std::string& user) {
  JobSpec spec = job_spec(name);
  spec.submitter = user;
  return spec;
}

Error refused_update(TestLauncher& launcher, const JobId& job, Priority priority,
                     const std::string& user) {
  launcher.send(UpdateJobInput{launcher.next_reply(), job, priority, UserCaller{user}});
  const auto refusal = launcher.expect_one<ReplyRefused>();
  launcher.drop_notices();
  return make_error(refusal.code, refusal.message);
}

std::string update(TestLauncher& launcher, const JobId& job, Priority priority) {
  launcher.send(UpdateJobInput{launcher.next_reply(), job, priority, LauncherItself{}});
  launcher.drop_notices();
  return launcher.expect_one<ReplyDone>().message;
}

// Ends the attempt that runs, and returns the jobs that are placed now.
std::string next_after(TestLauncher& launcher, FakeNode& node, const JobId& job) {
  const std::size_t before = launcher.facts<AttemptPlaced>().size();
  launcher.run_solo(node, attempt(job), node_exit({rank_exit(0)}));
  const auto placed = launcher.facts<AttemptPlaced>();
  return placed.size() == before ? "" : placed[before].attempt.job.value;
}

TEST(Priority, AJobOfAHigherPriorityGoesFirst) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId running = launcher.submit(job_spec("running"));
  const JobId low = launcher.submit(with_priority("low", Priority::low));
  const JobId medium = launcher.submit(job_spec("medium"));
  const JobId high = launcher.submit(with_priority("high", Priority::high));
  EXPECT_EQ(launcher.view(high).queue_position, 1);
  EXPECT_EQ(launcher.view(medium).queue_position, 2);
  EXPECT_EQ(launcher.view(low).queue_position, 3);
  EXPECT_EQ(next_after(launcher, n1, running), "high");
  EXPECT_EQ(next_after(launcher, n1, high), "medium");
  EXPECT_EQ(next_after(launcher, n1, medium), "low");
}

TEST(Priority, OfAQueuedJobCanBeChanged) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId running = launcher.submit(job_spec("running"));
  launcher.submit(job_spec("first"));
  const JobId second = launcher.submit(job_spec("second"));
  EXPECT_EQ(update(launcher, second, Priority::high), "job 'second' has priority high");
  EXPECT_EQ(update(launcher, second, Priority::high), "job 'second' has priority high already");
  EXPECT_EQ(launcher.view(second).spec.queue.priority, Priority::high);
  EXPECT_EQ(launcher.view(second).queue_position, 1);
  launcher.restart();
  launcher.open(n1, {report(attempt(running), PartState::running)});
  launcher.drop_notices();
  EXPECT_EQ(next_after(launcher, n1, running), "second");
  EXPECT_EQ(refused_update(launcher, second, Priority::low, "root").message,
            "job 'second' is Preparing; the priority of a job can be changed only while it is "
            "Queued");
  EXPECT_EQ(refused_update(launcher, JobId("none"), Priority::low, "root").code,
            ErrorCode::not_found);
}

TEST(Priority, OfAJobThatWaitsForAQuotaCanBeChanged) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.send(
      PrincipalInput{{}, AddUser{"alice", "", {}, {Role::submitter, "default"}}, LauncherItself{}});
  launcher.take<ReplyDone>();
  launcher.send(PrincipalInput{
      {},
      SetQuota{{QuotaHolder::Kind::user, "alice"}, {{QuotaLimit::running_jobs, 1}}, {}},
      LauncherItself{}});
  launcher.take<ReplyDone>();
  const JobId running = launcher.submit(job_spec("running"));
  launcher.submit(job_spec("first"));
  const JobId second = launcher.submit(job_spec("second"));
  EXPECT_TRUE(launcher.why(second).is<WaitsForQuota>());
  update(launcher, second, Priority::high);
  EXPECT_TRUE(launcher.why(second).is<WaitsForQuota>());
  EXPECT_EQ(next_after(launcher, n1, running), "second");
}

TEST(Priority, TheHeadOfALowerPriorityGivesWay) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.submit(job_spec("running"));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const JobId urgent = launcher.submit(with_priority("urgent", Priority::high));
  EXPECT_EQ(launcher.status(urgent), JobStatus::preparing) << "n2 is free";
  EXPECT_EQ(launcher.status(pair), JobStatus::queued);
}

TEST(Priority, AHeadWhosePriorityIsLoweredIsTheHeadNoMore) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId running = launcher.submit(job_spec("running"));
  const JobId first = launcher.submit(job_spec("first"));
  const JobId second = launcher.submit(job_spec("second"));
  update(launcher, first, Priority::low);
  EXPECT_EQ(launcher.view(second).queue_position, 1);
  const Why why = launcher.why(first);
  ASSERT_TRUE(why.is<WaitsBehindJob>());
  EXPECT_EQ(why.as<WaitsBehindJob>()->job, second);
  EXPECT_EQ(next_after(launcher, n1, running), "second");
}

TEST(FairShare, TheUserWhoHoldsLeastGoesFirst) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId a1 = launcher.submit(of_user("a1", "alice"));
  launcher.submit(of_user("a2", "alice"));
  const JobId a3 = launcher.submit(of_user("a3", "alice"));
  launcher.submit(of_user("a4", "alice"));
  const JobId b1 = launcher.submit(of_user("b1", "bob"));
  EXPECT_EQ(launcher.view(a3).queue_position, 1) << "its turn came before bob submitted";
  EXPECT_EQ(launcher.view(b1).queue_position, 2);
  EXPECT_EQ(next_after(launcher, n1, a1), "a3");
  EXPECT_EQ(next_after(launcher, n1, a3), "b1");
  launcher.submit(of_user("b2", "bob"));
  EXPECT_EQ(next_after(launcher, n1, b1), "a4") << "bob used the target as lately as alice, whose "
                                                   "turn came first";
}

TEST(FairShare, RecentUseCountsHalfAfterItsHalfLife) {
  FairShares shares;
  const Instant start{1'700'000'000'000'000'000};
  shares.node_changed("local", {}, inventory(4, gibibytes(8), 2));
  shares.hold(start, "local", "ann", {{0, 1}, gibibytes(2), {}}, 1);
  EXPECT_DOUBLE_EQ(shares.share_of("local", "ann", start), 0.5) << "half of the cpus";
  EXPECT_DOUBLE_EQ(shares.share_of("local", "bob", start), 0);
  EXPECT_DOUBLE_EQ(shares.share_of("lab", "ann", start), 0);
  const Instant later = start + kUseHalfLife;
  EXPECT_NEAR(shares.share_of("local", "ann", later), 0.5 + 0.25, 1e-9);
  shares.hold(later, "local", "ann", {{0, 1}, gibibytes(2), {}}, -1);
  EXPECT_NEAR(shares.share_of("local", "ann", later), 0.25, 1e-9);
  EXPECT_NEAR(shares.share_of("local", "ann", later + kUseHalfLife), 0.125, 1e-9);
  shares.hold(later, "local", "bob", {{0}, gibibytes(1), {1}}, 1);
  EXPECT_DOUBLE_EQ(shares.share_of("local", "bob", later), 0.5) << "half of the gpus";
}

TEST(FairShare, ANodeThatLeavesTakesItsShareOfThePool) {
  FairShares shares;
  shares.node_changed("local", {}, inventory(4));
  shares.node_changed("local", {}, inventory(4));
  shares.hold({}, "local", "ann", {{0, 1}, {}, {}}, 1);
  EXPECT_DOUBLE_EQ(shares.share_of("local", "ann", {}), 0.25);
  shares.node_changed("local", inventory(4), {});
  EXPECT_DOUBLE_EQ(shares.share_of("local", "ann", {}), 0.5);
  FairShares empty;
  empty.node_changed("local", {}, inventory(4));
  empty.node_changed("local", inventory(4), {});
  EXPECT_EQ(empty, FairShares{});
}

}  // namespace
}  // namespace lockstep::launcher
