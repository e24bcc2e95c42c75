// What is tried again, how often, and what it costs.

#include "launcher/core/attempts/retry.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Retry, InfrastructureFailuresAreRetriedUpToTheLimit) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.max = 2;
  const JobId job = launcher.submit(spec);
  for (std::uint32_t number = 1; number <= 3; ++number)
    launcher.finished(n1, attempt(job, number), node_failure(Cause::runner_lost, "killed"));
  EXPECT_EQ(launcher.facts<JobRequeued>().size(), 2U);
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 125);
  EXPECT_THAT(launcher.view(job).reason, HasSubstr("given up after 3 attempts"));
}

// "Not there" is no outage.
TEST(Retry, AWorkspaceThatCanNeverBeIsNotTriedAgain) {
  for (const bool hopeless : {true, false}) {
    TestLauncher launcher;
    FakeNode n1 = launcher.join("n1");
    const JobId job = launcher.submit(job_spec("job"));
    NodeExitReport exit = node_failure(Cause::workspace_failed, "/data/none does not exist");
    exit.hopeless = hopeless;
    launcher.finished(n1, attempt(job), exit);
    EXPECT_EQ(launcher.facts<JobRequeued>().size(), hopeless ? 0U : 1U);
    if (!hopeless) continue;
    EXPECT_EQ(launcher.status(job), JobStatus::failed);
    EXPECT_THAT(launcher.view(job).reason, HasSubstr("/data/none does not exist"));
    EXPECT_THAT(launcher.view(job).reason, ::testing::Not(HasSubstr("given up")));
  }
}

NodeExitReport lacking(const std::string& path) {
  NodeExitReport exit =
      node_failure(Cause::workspace_failed, path + " does not exist on this node");
  exit.absent = true;
  return exit;
}

TEST(Retry, WhatANodeDoesNotHaveIsLookedForOnEachOtherNodeOnce) {
  TestLauncher launcher;
  std::vector<FakeNode> nodes;
  for (const char* name : {"n1", "n2", "n3"}) nodes.push_back(launcher.join(name));
  JobSpec spec = job_spec("job");
  spec.retry.max = 0;
  const JobId job = launcher.submit(spec);
  for (std::uint32_t number = 1; number <= 3; ++number) {
    FakeNode& node = nodes[number - 1];
    ASSERT_EQ(launcher.placed_on(attempt(job, number)), std::vector<NodeId>{node.id});
    launcher.finished(node, attempt(job, number), lacking("/data/none"));
  }
  for (const JobRequeued& fact : launcher.facts<JobRequeued>()) EXPECT_FALSE(fact.charged);
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_THAT(launcher.view(job).reason,
              ::testing::AllOf(HasSubstr("on node n3"), HasSubstr("(nor on n1, n2)"),
                               ::testing::Not(HasSubstr("given up"))));
}

TEST(Retry, WhatANodeHasThatTheFirstLackedIsUsed) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.finished(n1, attempt(job), lacking("/data/set"));
  launcher.run_solo(n2, attempt(job, 2), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

// Its other nodes have the same files.
TEST(Retry, WhatOneNodeOfAHostDoesNotHaveIsNotLookedForOnTheOthersOfThatHost) {
  TestLauncher launcher;
  Inventory shared = inventory();
  shared.host_id = "machine-1";
  FakeNode n1 = launcher.join("n1", shared), n2 = launcher.join("n2", shared);
  const JobId job = launcher.submit(job_spec("job"));
  launcher.finished(n1, attempt(job), lacking("/data/none"));
  EXPECT_THAT(launcher.facts<JobRequeued>(), IsEmpty());
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
}

// One that waits for the others must not be sent to the first node again, nor keep jobs with equal
// requests from it.
TEST(Retry, ANodeThatDoesNotHaveItIsNotAskedAgainWhileTheOthersAreBusy) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  JobSpec other = job_spec("other");
  other.resources.nodes = {"n2"};
  const JobId busy = launcher.submit(other);
  const JobId job = launcher.submit(job_spec("job"));
  const JobId next = launcher.submit(job_spec("next"));
  launcher.finished(n1, attempt(job), lacking("/data/set"));
  EXPECT_EQ(launcher.status(job), JobStatus::queued);
  EXPECT_EQ(launcher.placed_on(attempt(next)), std::vector<NodeId>{n1.id});
  launcher.run_solo(n2, attempt(busy), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.placed_on(attempt(job, 2)), std::vector<NodeId>{n2.id});
}

TEST(Retry, UserErrorsNeverAre) {
  for (const Cause cause : {Cause::exit_code, Cause::signal, Cause::out_of_memory, Cause::mpi_abort,
                            Cause::command_not_found, Cause::exit_without_finalize}) {
    TestLauncher launcher;
    FakeNode n1 = launcher.join("n1");
    const JobId job = launcher.submit(job_spec("job"));
    launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0, cause, 9)}));
    EXPECT_THAT(launcher.facts<JobRequeued>(), IsEmpty()) << to_string(cause);
    EXPECT_EQ(launcher.status(job), JobStatus::failed);
  }
}

// What its owner typed into the first attempt would be missing in the second.
TEST(Retry, AJobWithATerminalIsNotTriedAgainOnceItsRanksHaveStarted) {
  for (const bool has_started : {false, true}) {
    TestLauncher launcher;
    FakeNode n1 = launcher.join("n1");
    JobSpec spec = job_spec("job");
    spec.terminal = TerminalKind::pty;
    const JobId job = launcher.submit(spec);
    NodeExitReport exit = node_failure(Cause::runner_lost, "killed");
    if (has_started) exit.started = launcher.now;
    if (has_started)
      launcher.run_solo(n1, attempt(job), exit);
    else
      launcher.finished(n1, attempt(job), exit);
    EXPECT_EQ(launcher.facts<JobRequeued>().size(), has_started ? 0U : 1U);
    if (!has_started) continue;
    EXPECT_EQ(launcher.status(job), JobStatus::failed);
    EXPECT_THAT(launcher.view(job).reason,
                HasSubstr("not tried again, because what was written to its standard input"));
  }
}

TEST(Retry, ATakenPortIsNotChargedButBounded) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.retry.max = 0;
  const JobId job = launcher.submit(spec);
  for (std::uint32_t number = 1; launcher.status(job) == JobStatus::preparing; ++number) {
    ASSERT_LE(number, 100U) << "it must end";
    launcher.finished(n1, attempt(job, number), node_failure(Cause::port_taken, "6105"));
  }
  const auto requeued = launcher.facts<JobRequeued>();
  EXPECT_EQ(requeued.size(), static_cast<std::size_t>(kMaxUnchargedRetries));
  for (const JobRequeued& fact : requeued) EXPECT_FALSE(fact.charged);
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
}

TEST(Retry, GoesToTheFrontOfTheQueueByItsFirstSubmission) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId first = launcher.submit(job_spec("first"));
  const JobId second = launcher.submit(job_spec("second"));
  launcher.finished(n1, attempt(first), node_failure(Cause::start_failed, "no disk"));
  EXPECT_EQ(launcher.status(first), JobStatus::preparing);
  EXPECT_EQ(launcher.status(second), JobStatus::queued);
  EXPECT_EQ(launcher.assignment(n1, attempt(first, 2)).attempt.number, 2U);
}

TEST(Retry, DoesNotWaitForTheLogsOfTheFailedAttemptButTheJobsEndDoes) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  NodeExitReport died = node_failure(Cause::runner_lost, "killed");
  died.logs = {{0, 10, 0}};
  launcher.finished(n1, attempt(job), died);
  launcher.expect_one<AwaitLogs>();
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
  launcher.run_solo(n1, attempt(job, 2), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  launcher.send(LogsDurableInput{attempt(job), n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST(Retry, ACancelDuringARetryCancels) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2));
  launcher.pass(seconds(12), {&n1});
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  ASSERT_EQ(launcher.status(job), JobStatus::queued) << "n2 is lost";
  launcher.cancel(job);
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  launcher.restart_agent(n2, {});
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.size(), 1U);
}

}  // namespace
}  // namespace lockstep::launcher
