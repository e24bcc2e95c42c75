// Submission and the order of the queue.

#include "common/domain/why/jobs/waits.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

CoreConfig fixed(int nodes) {
  CoreConfig config;
  config.fixed_nodes = nodes;
  return config;
}

TEST(Queue, RunsJobsStrictlyInOrderOfSubmission) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  std::vector<JobId> jobs;
  for (const char* name : {"job9", "job8", "job7", "job6", "job5"})
    jobs.push_back(launcher.submit(job_spec(name)));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(launcher.status(jobs[i]), JobStatus::preparing);
    for (std::size_t k = i + 1; k < jobs.size(); ++k) {
      EXPECT_EQ(launcher.status(jobs[k]), JobStatus::queued);
      EXPECT_EQ(launcher.view(jobs[k]).queue_position, static_cast<int>(k - i));
    }
    launcher.run_solo(n1, attempt(jobs[i]), node_exit({rank_exit(0)}));
    EXPECT_EQ(launcher.status(jobs[i]), JobStatus::completed);
  }
}

TEST(Queue, AJobThatWaitsForBusyNodesBlocksLaterOnes) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId first = launcher.submit(job_spec("first"));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const JobId small = launcher.submit(job_spec("small"));
  EXPECT_EQ(launcher.status(pair), JobStatus::queued);
  EXPECT_EQ(launcher.status(small), JobStatus::queued) << "n2 is free, but it is not its turn";
  EXPECT_THAT(launcher.view(pair).reason, ::testing::HasSubstr("by job 'first'"));
  const Why why = launcher.why(small);
  ASSERT_TRUE(why.is<WaitsBehindJob>());
  EXPECT_EQ(*why.as<WaitsBehindJob>(), (WaitsBehindJob{pair, launcher.why(pair)}));
  launcher.run_solo(n1, attempt(first), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(pair), JobStatus::preparing);
  EXPECT_EQ(launcher.status(small), JobStatus::queued);
}

TEST(Queue, AJobForWhichThereAreNoNodesWaitsWithAReasonAndBlocksNobody) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId five = launcher.submit(job_spec("five", 5));
  JobSpec wide = job_spec("wide");
  wide.resources.cpus = 64;
  const JobId big = launcher.submit(wide);
  const JobId small = launcher.submit(job_spec("small"));
  EXPECT_EQ(launcher.status(small), JobStatus::preparing);
  EXPECT_EQ(launcher.status(five), JobStatus::queued);
  EXPECT_THAT(launcher.view(five).reason, ::testing::HasSubstr("needs 5 nodes"));
  EXPECT_THAT(launcher.view(big).reason, ::testing::HasSubstr("n1 has 4 cpus, 64 asked for"));
}

TEST(Queue, AWaitInVainIsSaidWithWhatWouldChangeIt) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  JobSpec gpus = job_spec("gpus");
  gpus.resources.gpus = 4;
  const JobId few = launcher.submit(job_spec("few", 3)), bare = launcher.submit(gpus);
  EXPECT_TRUE(launcher.view(few).in_vain);
  EXPECT_THAT(launcher.view(few).reason,
              ::testing::HasSubstr("only 2 nodes of target 'local' can ever take it; to change "
                                   "that, ask for at most 2 nodes (-N; "));
  EXPECT_TRUE(launcher.view(bare).in_vain);
  EXPECT_THAT(launcher.view(bare).reason,
              ::testing::HasSubstr("has 0 gpus, 4 asked for); no node of target 'local' can ever "
                                   "take it; to change that, leave out --gpus (lock"));
  FakeNode n3 = launcher.join("n3", inventory(4, gibibytes(8), 4));
  EXPECT_EQ(launcher.status(few), JobStatus::preparing);
  EXPECT_FALSE(launcher.view(few).in_vain);
  EXPECT_EQ(launcher.status(bare), JobStatus::queued);
  EXPECT_FALSE(launcher.view(bare).in_vain) << "it waits for its turn now";
}

TEST(Queue, WithoutAnyRdmaDeviceRdmaIsWaitedForInVain) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("fabric");
  spec.resources.rdma = Rdma::required;
  const JobId fabric = launcher.submit(spec);
  EXPECT_TRUE(launcher.view(fabric).in_vain);
  EXPECT_THAT(launcher.view(fabric).reason,
              ::testing::HasSubstr("no node of target 'local' can ever take it; to change that, "
                                   "leave out --rdma (lockstep.rdma in a job file), or join nodes "
                                   "that have it: "));
  Inventory down = inventory();
  down.rdma_ports.emplace_back().state = "DOWN";
  FakeNode n2 = launcher.join("n2", down);
  EXPECT_EQ(launcher.status(fabric), JobStatus::queued);
  EXPECT_FALSE(launcher.view(fabric).in_vain) << "its port may come up";
}

TEST(Queue, IsolationOnASharedMachineIsWaitedForInVain) {
  TestLauncher launcher;
  Inventory alone = inventory(), shared = inventory();
  shared.host_id = "one machine";
  alone.host_id = "another";
  FakeNode n1 = launcher.join("n1", shared), n2 = launcher.join("n2", shared);
  JobSpec spec = job_spec("quiet");
  spec.resources.isolated = true;
  const JobId quiet = launcher.submit(spec);
  EXPECT_TRUE(launcher.view(quiet).in_vain);
  EXPECT_THAT(launcher.view(quiet).reason,
              ::testing::HasSubstr("leave out --isolated (lockstep.isolated in a job file), or "
                                   "join nodes that have it: "));
  FakeNode n3 = launcher.join("n3", alone);
  EXPECT_NE(launcher.status(quiet), JobStatus::queued);
}

// What a node's return, its approval or its first report changes is worth waiting for.
TEST(Queue, NodesThatMayComeBackAreNotInVain) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  launcher.pass(minutes(5), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::lost);
  const JobId pair = launcher.submit(job_spec("pair", 2));
  EXPECT_FALSE(launcher.view(pair).in_vain);
  EXPECT_THAT(launcher.view(pair).reason, ::testing::Not(::testing::HasSubstr("can ever")));
  TestLauncher empty;
  EXPECT_FALSE(empty.view(empty.submit(job_spec("first"))).in_vain) << "nodes are to join";
}

TEST(Queue, AParkedJobGetsItsTurnBeforeLaterOnesWhenNodesJoin) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const JobId small = launcher.submit(job_spec("small"));
  const JobId later = launcher.submit(job_spec("later"));
  EXPECT_EQ(launcher.status(small), JobStatus::preparing);
  FakeNode n2 = launcher.join("n2");
  EXPECT_EQ(launcher.status(later), JobStatus::queued) << "pair is in front of it again";
  launcher.run_solo(n1, attempt(small), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(pair), JobStatus::preparing);
  EXPECT_EQ(launcher.status(later), JobStatus::queued);
}

TEST(Queue, RefusesMoreNodesThanAFixedTargetHas) {
  TestLauncher launcher(fixed(2));
  const Error error = launcher.submit_refused(job_spec("big", 5));
  EXPECT_EQ(error.code, ErrorCode::unsatisfiable);
  EXPECT_EQ(error.message,
            "needs 5 nodes, but only 2 nodes of target 'local' can ever take it; to change that, "
            "ask for at most 2 nodes (-N; resources.instance_count in a job file), or start more "
            "nodes with `lockstep up --nodes 5`");
}

TEST(Queue, WhoWaitsAnywayIsTakenByAFixedTarget) {
  TestLauncher launcher(fixed(1));
  FakeNode n1 = launcher.join("n1");
  JobSpec gpus = job_spec("gpus");
  gpus.resources.gpus = 4;
  EXPECT_EQ(
      launcher.submit_refused(gpus).message,
      "needs 1 node with 4 gpus, but no node of target 'local' can ever take it (n1 has 0 "
      "gpus, 4 asked for); to change that, leave out --gpus (lockstep.resources.gpus in a job "
      "file); if n1 has gpus, Lockstep does not see them: run `nvidia-smi` there, then "
      "`lockstep down` and `lockstep up`");
  SubmitInput anyway{launcher.next_reply(), "anyway", gpus, ""};
  anyway.wait_anyway = true;
  launcher.send(std::move(anyway));
  launcher.expect_one<ReplySubmitted>();
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(JobId("gpus")), JobStatus::queued);
  EXPECT_TRUE(launcher.view(JobId("gpus")).in_vain);
  EXPECT_FALSE(launcher.core->refusals(job_spec("pair", 2), LauncherItself{}).empty());
  EXPECT_TRUE(
      launcher.core->refusals(job_spec("pair", 2), LauncherItself{}, {Judging::What::all, true})
          .empty());
}

// `lockstep up --nodes 1`, and agents that joined by hand.
TEST(Queue, NodesThatJoinedBeyondTheFixedNumberCount) {
  TestLauncher launcher(fixed(1));
  std::vector<FakeNode> nodes;
  for (const char* name : {"n1", "n2", "n3"}) nodes.push_back(launcher.join(name));
  EXPECT_EQ(launcher.submit_refused(job_spec("four", 4)).message,
            "needs 4 nodes, but only 3 nodes of target 'local' can ever take it; to change that, "
            "ask for at most 3 nodes (-N; resources.instance_count in a job file), or start more "
            "nodes with `lockstep up --nodes 4`");
  EXPECT_EQ(launcher.status(launcher.submit(job_spec("three", 3))), JobStatus::preparing);
}

TEST(Queue, ALostNodeBeyondTheFixedNumberDoesNotCount) {
  TestLauncher launcher(fixed(1));
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.pass(minutes(5), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::lost);
  EXPECT_THAT(launcher.submit_refused(job_spec("pair", 2)).message,
              ::testing::HasSubstr("only 1 node of target 'local' can ever take it"));
}

TEST(Queue, RefusesMorePerNodeThanAnyNodeOfAFixedTargetHas) {
  TestLauncher launcher(fixed(2));
  JobSpec wide = job_spec("wide");
  wide.resources.gpus = 1;
  FakeNode n1 = launcher.join("n1");
  EXPECT_EQ(launcher.status(launcher.submit(wide)), JobStatus::queued) << "n2 is not known yet";
  FakeNode n2 = launcher.join("n2");
  wide.name = "wider";
  const Error error = launcher.submit_refused(wide);
  EXPECT_EQ(error.code, ErrorCode::unsatisfiable);
  EXPECT_THAT(error.message, ::testing::HasSubstr("has 0 gpus, 1 asked for"));
}

TEST(Queue, RefusesIsolatedGpusWhereRanksAreMoreThanGpus) {
  TestLauncher launcher(fixed(1));
  FakeNode n1 = launcher.join("n1", inventory(4, gibibytes(8), 2));
  JobSpec spec = job_spec("isolated");
  spec.resources.isolate_gpus = true;
  spec.distribution.processes_per_node = 3;
  EXPECT_THAT(launcher.submit_refused(spec).message,
              ::testing::HasSubstr("isolated needs one for each of 3 ranks"));
  spec.distribution.processes_per_node = 2;
  EXPECT_EQ(launcher.status(launcher.submit(spec)), JobStatus::preparing);
}

TEST(Queue, RefusesASecondJobOfTheSameName) {
  TestLauncher launcher;
  launcher.submit(job_spec("twin"));
  const Error error = launcher.submit_refused(job_spec("twin"));
  EXPECT_EQ(error.code, ErrorCode::already_exists);
  EXPECT_THAT(error.message, ::testing::HasSubstr("choose another name"));
}

TEST(Queue, TheSameSubmissionTwiceIsOneJob) {
  TestLauncher launcher;
  for (int i = 0; i < 2; ++i) {
    launcher.send(SubmitInput{launcher.next_reply(), "key", job_spec(""), "calm_fox"});
    EXPECT_EQ(launcher.expect_one<ReplySubmitted>().job, JobId("calm_fox"));
    launcher.drop_notices();
  }
  EXPECT_EQ(launcher.facts<JobSubmitted>().size(), 1U);
}

TEST(Queue, AFullQueueSaysSo) {
  CoreConfig config;
  config.max_queued_jobs = 2;
  TestLauncher launcher(config);
  launcher.submit(job_spec("a"));
  launcher.submit(job_spec("b"));
  const Error error = launcher.submit_refused(job_spec("c"));
  EXPECT_EQ(error.code, ErrorCode::resource_exhausted);
  EXPECT_THAT(error.message, ::testing::HasSubstr("2 jobs wait"));
}

TEST(Queue, RefusesASpecThatCannotBe) {
  TestLauncher launcher;
  JobSpec spec = job_spec("empty");
  spec.command = Argv{};
  EXPECT_EQ(launcher.submit_refused(spec).code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace lockstep::launcher
