// What a job asks to be tried again, and how long it waits before that.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/waits.h"
#include "launcher/core/attempts/retry.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ExitReport ended(Cause cause, int code = 1) {
  ExitReport report;
  report.cause = cause;
  report.exit_code = code;
  return report;
}

// Why a second attempt follows on the first.
Why why_again(const TestLauncher& launcher, const JobId& job) {
  const Why why = launcher.view(job).attempts[0].why;
  const auto* again = why.as<RetriedAfter>();
  return again == nullptr ? Why() : again->then;
}

RetryPolicy policy(std::vector<RetryOn> on, std::vector<int> codes = {}) {
  RetryPolicy made;
  made.on = std::move(on);
  made.exit_codes = std::move(codes);
  return made;
}

TEST(RetryPolicy, EachWordCoversItsCauses) {
  const std::vector<std::pair<RetryOn, std::vector<Cause>>> cases = {
      {RetryOn::infrastructure,
       {Cause::node_lost, Cause::runner_lost, Cause::workspace_failed, Cause::start_failed}},
      {RetryOn::node_lost, {Cause::node_lost}},
      {RetryOn::runner_lost, {Cause::runner_lost}},
      {RetryOn::out_of_memory, {Cause::out_of_memory}},
      {RetryOn::signal, {Cause::signal}},
      {RetryOn::timeout, {Cause::timeout}},
      {RetryOn::exit_code, {Cause::exit_code, Cause::mpi_abort}},
  };
  const std::vector<Cause> all = {
      Cause::completed,      Cause::exit_code,         Cause::signal,      Cause::out_of_memory,
      Cause::mpi_abort,      Cause::command_not_found, Cause::timeout,     Cause::canceled,
      Cause::start_failed,   Cause::workspace_failed,  Cause::runner_lost, Cause::node_lost,
      Cause::never_connected};
  for (const auto& [on, covered] : cases)
    for (const Cause cause : all)
      EXPECT_EQ(is_retried(policy({on}), ended(cause)),
                std::find(covered.begin(), covered.end(), cause) != covered.end())
          << to_string(on) << " " << to_string(cause);
}

TEST(RetryPolicy, ExitCodesAreExactAndOfProgramsOnly) {
  const RetryPolicy codes = policy({}, {75, 125});
  EXPECT_TRUE(is_retried(codes, ended(Cause::exit_code, 75)));
  EXPECT_TRUE(is_retried(codes, ended(Cause::mpi_abort, 75)));
  EXPECT_FALSE(is_retried(codes, ended(Cause::exit_code, 76)));
  EXPECT_FALSE(is_retried(codes, ended(Cause::node_lost, 125)));
  EXPECT_FALSE(is_retried(policy({}), ended(Cause::node_lost)));
}

TEST(RetryPolicy, OnlyOnHangSaysWhetherAHangIsTriedAgain) {
  JobSpec spec = job_spec("job");
  spec.retry.on = {RetryOn::infrastructure, RetryOn::timeout, RetryOn::exit_code};
  spec.retry.exit_codes = {124};
  for (const OnHang on : {OnHang::report, OnHang::stacks, OnHang::fail, OnHang::retry}) {
    spec.hang.on = on;
    EXPECT_EQ(is_retried(spec, ended(Cause::hang, 124)), on == OnHang::retry) << to_string(on);
  }
  EXPECT_TRUE(is_retried(spec, ended(Cause::node_lost)));
}

TEST(RetryPolicy, AHangThatIsTriedAgainIsCharged) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.hang.on = OnHang::retry;
  const JobId job = launcher.submit(spec);
  launcher.finished(n1, attempt(job), node_failure(Cause::hang, "stopped rank 0"));
  ASSERT_EQ(launcher.view(job).attempts.size(), 2U);
  EXPECT_EQ(why_again(launcher, job), Why(ChargedRetry{1, 3}));
}

TEST(RetryPolicy, TheWaitDoublesUpToAMinute) {
  RetryPolicy made;
  EXPECT_EQ(backoff_before(made, 1), seconds(1));
  EXPECT_EQ(backoff_before(made, 2), seconds(2));
  EXPECT_EQ(backoff_before(made, 6), seconds(32));
  EXPECT_EQ(backoff_before(made, 7), seconds(60));
  EXPECT_EQ(backoff_before(made, 1000), seconds(60));
  made.backoff = minutes(5);
  EXPECT_EQ(backoff_before(made, 3), minutes(5));
  made.backoff = Duration::zero();
  EXPECT_EQ(backoff_before(made, 3), Duration::zero());
}

TEST(RetryPolicy, AnExitCodeIsRetriedWhenTheJobSaysSo) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.on = {};
  spec.retry.exit_codes = {75};
  const JobId job = launcher.submit(spec);
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0, Cause::exit_code, 75)}));
  EXPECT_EQ(launcher.view(job).attempts.size(), 2U);
  EXPECT_EQ(why_again(launcher, job), Why(ChargedRetry{1, 3}));
  EXPECT_THAT(launcher.placed_on(attempt(job, 2)), ::testing::ElementsAre(n1.id));
  launcher.run_solo(n1, attempt(job, 2), node_exit({rank_exit(0, Cause::exit_code, 1)}));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report->exit_code, 1);
}

TEST(RetryPolicy, AListWithoutInfrastructureDoesNotMeanIt) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.on = {RetryOn::exit_code};
  const JobId job = launcher.submit(spec);
  launcher.finished(n1, attempt(job), node_failure(Cause::runner_lost, "killed"));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
}

struct Waiting : ::testing::Test {
  Waiting() {
    JobSpec spec = job_spec("job");
    spec.retry.backoff = seconds(4);
    job = launcher.submit(spec);
  }
  void fail(std::uint32_t number) {
    launcher.finished(n1, attempt(job, number), node_failure(Cause::runner_lost, "killed"));
  }
  Duration left() const {
    const Why why = launcher.why(job);
    const auto* waits = why.as<WaitsToRetry>();
    return waits == nullptr ? Duration{-1} : waits->left;
  }
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobId job;
};

TEST_F(Waiting, ItSaysSoAndStartsWhenTheTimeHasCome) {
  fail(1);
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(left(), seconds(4));
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("retry 1 of 3 in 4.0s ("));
  EXPECT_EQ(launcher.view(job).retry_at, launcher.now + seconds(4));
  launcher.pass(seconds(3), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(left(), seconds(1));
  launcher.pass(seconds(1), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
  EXPECT_EQ(launcher.view(job).retry_at.ns, 0);
  fail(2);
  launcher.pass(seconds(7), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  launcher.pass(seconds(1), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
}

TEST_F(Waiting, OthersPassAndItKeepsItsOrder) {
  fail(1);
  const JobId passes = launcher.submit(job_spec("passes"));
  const JobId behind = launcher.submit(job_spec("behind"));
  EXPECT_EQ(launcher.status(passes), JobStatus::preparing);
  launcher.pass(seconds(5), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("waits for 1 node"));
  launcher.run_solo(n1, attempt(passes), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
  EXPECT_EQ(launcher.status(behind), JobStatus::queued);
}

TEST_F(Waiting, ARestartDoesNotShortenIt) {
  fail(1);
  launcher.restart(seconds(1));
  launcher.open(n1);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(left(), seconds(3));
  launcher.pass(seconds(2), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  launcher.pass(seconds(1), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
}

TEST_F(Waiting, AStallOfTheLauncherDoesNotLengthenIt) {
  fail(1);
  launcher.tick(seconds(60));  // in which it did not poll
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
}

TEST_F(Waiting, ACancelEndsIt) {
  fail(1);
  launcher.cancel(job);
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  launcher.pass(seconds(6), {&n1});
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
}

TEST_F(Waiting, WhatCostsNothingWaitsForNothing) {
  launcher.finished(n1, attempt(job), node_failure(Cause::port_taken, "6105"));
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
}

TEST(MissingAccount, TheNodeIsNoNodeForThisUserUntilItsAgentStartsAgain) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  JobSpec spec = job_spec("job");
  spec.run_as = "ada";
  spec.retry.max = 0;
  const JobId job = launcher.submit(spec);
  launcher.finished(n1, attempt(job), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_THAT(launcher.placed_on(attempt(job, 2)), ::testing::ElementsAre(n2.id));
  launcher.finished(n2, attempt(job, 2), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("n1 cannot run jobs as ada: no user ada"));
  spec.name = "next";
  const JobId next = launcher.submit(spec);
  EXPECT_THAT(launcher.view(next).attempts, IsEmpty()) << "it is known";
  spec.name = "other";
  spec.run_as = "bob";
  const JobId other = launcher.submit(spec);
  EXPECT_EQ(launcher.status(other), JobStatus::preparing);
  launcher.restart_agent(n2, {});
  launcher.drop_notices();
  EXPECT_THAT(launcher.placed_on(attempt(job, 3)), ::testing::ElementsAre(n2.id));
}

TEST(Explained, AnEndIsToldOnceAndOneInTheSameWordsByItsNumber) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.max = 3;
  spec.retry.backoff = Duration(0);
  const JobId job = launcher.submit(spec);
  for (int number = 1; number <= 2; ++number)
    launcher.finished(n1, attempt(job, number), node_failure(Cause::start_failed, "no engine"));
  const auto lines = launcher.explain(job).lines;
  const auto count = [&](std::string_view words) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(words) != std::string::npos;
    });
  };
  EXPECT_EQ(count("no engine"), 1);
  EXPECT_EQ(count("  ended: as attempt 1"), 1);
  EXPECT_EQ(count("  then: retry 1 of 3"), 1);
  EXPECT_EQ(count("  then: retry 2 of 3"), 1);
}

// How an attempt ended are words of the job: who may only see it is told that it is tried again.
TEST(Explained, ThoseWhoMayOnlySeeTheJobAreNotToldHowItsAttemptsEnded) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.max = 3;
  spec.retry.backoff = minutes(1);
  const JobId job = launcher.submit(spec);
  const std::string secret =
      "MPI_Abort at /home/ann/secret.py; see http://index.local; retry 9 of 9";
  launcher.finished(n1, attempt(job, 1), node_failure(Cause::start_failed, secret));
  const JobView view = launcher.view(job);
  ASSERT_EQ(view.status, JobStatus::queued);
  EXPECT_THAT(view.reason, ::testing::HasSubstr(secret + "; retry 1 of 3 in "));
  EXPECT_THAT(words::text_of(view.why_for_all), ::testing::StartsWith("retry 1 of 3 in "));
  const ExplainView explained = launcher.explain(job);
  EXPECT_THAT(explained.lines, ::testing::Contains(::testing::HasSubstr(secret)));
  EXPECT_THAT(lines_for_all(explained), ::testing::Contains("  ended: start_failed"));
  EXPECT_THAT(lines_for_all(explained), ::testing::Contains("  then: retry 1 of 3"));
  for (const std::string& line : lines_for_all(explained))
    EXPECT_EQ(line.find("secret"), std::string::npos) << line;
  launcher.pass(minutes(2), {&n1});
  launcher.drop_notices();
}

TEST(MissingAccount, WhenNoNodeIsToComeTheJobEndsWithTheReasonAfterOneLookAtEach) {
  CoreConfig config;
  config.fixed_nodes = 2;
  TestLauncher launcher(config);
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  JobSpec spec = job_spec("job");
  spec.run_as = "ada";
  const JobId job = launcher.submit(spec);
  launcher.finished(n1, attempt(job), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_EQ(launcher.status(job), JobStatus::preparing) << "n2 may have it";
  launcher.finished(n2, attempt(job, 2), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_THAT(
      launcher.view(job).reason,
      HasSubstr("node n2 cannot run jobs as ada: no user ada; no node of target 'local' can run "
                "jobs as this account: create the account on the nodes, and submit the job again"));
  spec.name = "again";
  const JobId again = launcher.submit(spec);
  EXPECT_EQ(launcher.status(again), JobStatus::preparing) << launcher.view(again).reason;
}

TEST(MissingAccount, ASecondJobOfTheAccountIsNotLeftWaitingWhenTheFirstHasEnded) {
  CoreConfig config;
  config.fixed_nodes = 1;
  TestLauncher launcher(config);
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("first");
  spec.run_as = "ada";
  const JobId first = launcher.submit(spec);
  spec.name = "second";
  const JobId second = launcher.submit(spec);
  EXPECT_EQ(launcher.status(second), JobStatus::queued);
  launcher.finished(n1, attempt(first), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_EQ(launcher.status(first), JobStatus::failed);
  EXPECT_EQ(launcher.status(second), JobStatus::preparing);
  launcher.finished(n1, attempt(second), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_EQ(launcher.status(second), JobStatus::failed);
}

TEST(MissingAccount, AJobThatWaitsForANodeWithItsAccountSaysWhatToDo) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.run_as = "ada";
  const JobId job = launcher.submit(spec);
  launcher.finished(n1, attempt(job), node_failure(Cause::account_missing, "no user ada"));
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_THAT(launcher.view(job).reason,
              HasSubstr("(n1 cannot run jobs as ada: no user ada); create the account ada on a "
                        "node and restart that node's lockstep-agent, or cancel the job"));
  EXPECT_TRUE(launcher.view(job).in_vain);
}

}  // namespace
}  // namespace lockstep::launcher
