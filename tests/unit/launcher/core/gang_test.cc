// The life of an attempt, from placed to final.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/ranks/parts.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct TwoNodes : ::testing::Test {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  JobId job;
  AttemptId first;

  void submit_gang(int ranks = 1) {
    job = launcher.submit(job_spec("gang", 2, ranks));
    first = attempt(job);
  }
  void prepare() {
    launcher.prepared(n1, first);
    launcher.prepared(n2, first);
  }
  void run() {
    prepare();
    launcher.observe(n1, first, PartState::running);
    launcher.observe(n2, first, PartState::running);
  }
};
using Gang = TwoNodes;

TEST_F(Gang, GoesThroughEveryStatusOfItsLife) {
  submit_gang();
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
  launcher.prepared(n1, first);
  EXPECT_EQ(launcher.status(job), JobStatus::preparing);
  launcher.prepared(n2, first);
  EXPECT_EQ(launcher.status(job), JobStatus::starting);
  launcher.observe(n1, first, PartState::running);
  EXPECT_EQ(launcher.status(job), JobStatus::starting);
  launcher.observe(n2, first, PartState::running);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 100, 0}};
  launcher.finished(n1, first, exit);
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  launcher.finished(n2, first, node_exit({rank_exit(1)}));
  const AwaitLogs await = launcher.expect_one<AwaitLogs>();
  EXPECT_EQ(await.node, n1.id);
  EXPECT_EQ(await.sizes, exit.logs);
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  EXPECT_EQ(launcher.why(job), (WaitsForLogs{first, {"n1"}, {}}));
  launcher.send(LogsDurableInput{first, n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 0);
}

TEST_F(Gang, IsFormedFromWhatTheRunnersReportedByNodeRank) {
  submit_gang();
  EXPECT_EQ(launcher.assignment(n1, first).phase, WantedPhase::prepare);
  launcher.prepared(n2, first);
  PartReport ready = report(first, PartState::prepared);
  ready.runner_port = 7001;
  ready.runner_key = PublicKey("runner-on-1");
  ready.master_port = 6106;
  launcher.observe(n1, ready);
  EXPECT_EQ(launcher.take<SendDesired>().size(), 2U);
  launcher.drop_notices();
  const Assignment assignment = launcher.assignment(n2, first);
  EXPECT_EQ(assignment.phase, WantedPhase::run);
  const GangTable& gang = *assignment.gang;
  EXPECT_EQ(gang.master_port, 6106);
  ASSERT_EQ(gang.members.size(), 2U);
  EXPECT_EQ(gang.members[0].node, n1.id);
  EXPECT_EQ(gang.members[0].runner_port, 7001);
  EXPECT_EQ(gang.members[0].runner_key, PublicKey("runner-on-1"));
  EXPECT_EQ(gang.members[1].hostname, "n2");
  EXPECT_EQ(gang.members[1].address, "10.0.0.n2");
  EXPECT_EQ(gang.members[1].host_id, "host-of-n2");
}

// A gang whose runners, but the last `old` ones, say that they understand rows.
struct Tables : ::testing::Test {
  TestLauncher launcher;
  std::vector<FakeNode> nodes;
  AttemptId id;

  void place(int count) {
    for (int i = 0; i < count; ++i) nodes.push_back(launcher.join("n" + std::to_string(i)));
    id = attempt(launcher.submit(job_spec("gang", count)));
  }
  void prepare(int old = 0) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      PartReport ready = report(id, PartState::prepared);
      ready.runner_port = static_cast<std::uint16_t>(7'000 + i);
      ready.runner_key = PublicKey("runner-" + std::to_string(i));
      ready.master_port = i == 0 ? 6'105 : 0;
      ready.gang_rows = i + static_cast<std::size_t>(old) < nodes.size() ? kGangRowsVersion : 0U;
      launcher.observe(nodes[i], ready);
      launcher.drop_notices();
    }
  }
  Assignment assigned(std::size_t i) const { return launcher.assignment(nodes[i], id); }
};

TEST_F(Tables, GoDownTheTreeWhenAllOfTheGangKnowThat) {
  place(4);
  prepare();
  const GangFormed formed = launcher.facts<GangFormed>().at(0);
  ASSERT_TRUE(formed.rows);
  EXPECT_EQ(*formed.rows, digest_of(id, formed.gang));
  for (std::size_t i = 0; i < 4; ++i) {
    const Assignment one = assigned(i);
    EXPECT_EQ(one.phase, WantedPhase::run);
    EXPECT_EQ(one.gang.has_value(), i == 0) << i;
    EXPECT_EQ(one.share, share_of(formed.gang, static_cast<int>(i), kGangTreeRadix, *formed.rows));
  }
  EXPECT_EQ(*assigned(0).gang, formed.gang);
  EXPECT_EQ(assigned(0).share->children.size(), 3U);
  EXPECT_EQ(assigned(3).share->parent->runner_key, PublicKey("runner-0"));
}

// A node checks the fabric that comes down the tree as it checks the rows.
TEST_F(Tables, NameTheFabricOfTheNodesAndCountItInTheDigest) {
  Inventory has = inventory();
  has.rdma_ports.push_back(
      {"mlx5_0", 1, "ACTIVE", 200, "InfiniBand", "fe80:0000:0000:0000", {0xffff}});
  for (const char* name : {"n0", "n1"}) nodes.push_back(launcher.join(name, has));
  id = attempt(launcher.submit(job_spec("gang", 2)));
  prepare();
  const GangFormed formed = launcher.facts<GangFormed>().at(0);
  ASSERT_TRUE(formed.rows);
  EXPECT_EQ(formed.gang.fabric, (GangFabric{"InfiniBand", "fe80:0000:0000:0000", 0x7fff}));
  EXPECT_EQ(*formed.rows, digest_of(id, formed.gang));
  GangTable other = formed.gang;
  other.fabric.reset();
  EXPECT_NE(*formed.rows, digest_of(id, other));
}

TEST_F(Tables, AreTheSameAfterARestartOfTheLauncher) {
  place(3);
  prepare();
  const Assignment before = assigned(1);
  launcher.restart();
  EXPECT_EQ(assigned(1), before);
  ASSERT_TRUE(before.share);
}

TEST_F(Tables, GoWholeToEachNodeWhenOneDoesNotKnowThat) {
  place(3);
  prepare(1);
  EXPECT_FALSE(launcher.facts<GangFormed>().at(0).rows);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(assigned(i).gang) << i;
    EXPECT_EQ(assigned(i).gang->members.size(), 3U);
    EXPECT_FALSE(assigned(i).share);
  }
}

TEST_F(Tables, AreNotInAnOrderToStop) {
  place(3);
  prepare();
  launcher.cancel(id.job);
  launcher.drop_notices();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(assigned(i).phase, WantedPhase::stop);
    EXPECT_FALSE(assigned(i).gang);
    EXPECT_FALSE(assigned(i).share);
  }
}

// Not with the square of it: each row that is sent is counted, with each key of a child.
TEST_F(Tables, CostWhatGrowsWithTheGang) {
  constexpr std::size_t kNodes = 40;
  place(kNodes);
  prepare();
  std::size_t rows = 0;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const Assignment one = assigned(i);
    ASSERT_TRUE(one.share);
    rows += (one.gang ? one.gang->members.size() : 0) + one.share->children.size() +
            (one.share->parent ? 1U : 0U);
  }
  EXPECT_EQ(rows, kNodes + 2 * (kNodes - 1));
}

TEST_F(Gang, IsNotFormedWhileOneOfItsNodesIsUnknown) {
  submit_gang();
  launcher.prepared(n2, first);
  launcher.pass(seconds(5), {&n1});
  launcher.prepared(n1, first);
  EXPECT_EQ(launcher.liveness(n2), Liveness::unknown);
  EXPECT_THAT(launcher.facts<GangFormed>(), IsEmpty());
  launcher.beat(n2);
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<GangFormed>().size(), 1U);
}

TEST_F(Gang, OfOneNodeRunsAtOnce) {
  const JobId solo = launcher.submit(job_spec("solo"));
  const Assignment assignment = launcher.assignment(n1, attempt(solo));
  EXPECT_TRUE(assignment.solo);
  EXPECT_EQ(assignment.phase, WantedPhase::run);
  EXPECT_FALSE(assignment.gang.has_value());
}

TEST_F(Gang, RevisionGrowsWheneverTheAssignmentsChange) {
  std::uint64_t revision = launcher.core->desired_for(n1.id).revision;
  const auto grown = [&] {
    const std::uint64_t before = revision;
    revision = launcher.core->desired_for(n1.id).revision;
    return revision > before;
  };
  submit_gang();
  EXPECT_TRUE(grown());
  launcher.prepared(n1, first);
  EXPECT_FALSE(grown()) << "a report alone changes nothing that is wanted";
  launcher.prepared(n2, first);
  EXPECT_TRUE(grown()) << "run";
  launcher.finished(n2, first, node_exit({rank_exit(1, Cause::exit_code, 3)}));
  EXPECT_TRUE(grown()) << "stop";
  launcher.finished(n1, first, node_exit({terminated(0)}));
  EXPECT_TRUE(grown()) << "released";
}

TEST_F(Gang, TheFirstFailureStopsTheOthers) {
  submit_gang(2);
  run();
  launcher.finished(n2, first, node_exit({rank_exit(2, Cause::signal, 9), terminated(3)}));
  const AttemptDoomed doomed = launcher.facts<AttemptDoomed>().at(0);
  EXPECT_EQ(doomed.report.rank, 2);
  EXPECT_EQ(launcher.assignment(n1, first).phase, WantedPhase::stop);
  EXPECT_EQ(launcher.assignment(n1, first).stop_reason, StopReason::gang_failed);
  EXPECT_THAT(launcher.facts<AttemptEnded>(), IsEmpty()) << "ranks still run on n1";
  launcher.finished(n1, first, node_exit({terminated(0), terminated(1)}));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 137);
}

TEST_F(Gang, AFinishedPartStaysAssignedUntilItsLogsAreDurable) {
  const JobId solo = launcher.submit(job_spec("solo"));
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 1, 1}};
  launcher.run_solo(n1, attempt(solo), exit);
  launcher.expect_one<AwaitLogs>();
  EXPECT_TRUE(launcher.assigned(n1, attempt(solo)));
  EXPECT_EQ(launcher.status(solo), JobStatus::finalizing);
  launcher.send(LogsDurableInput{attempt(solo), n1.id});
  EXPECT_EQ(launcher.expect_one<SendDesired>().node, n1.id);
  launcher.drop_notices();
  EXPECT_FALSE(launcher.assigned(n1, attempt(solo)));
}

TEST_F(Gang, LogsAreGivenUpAfterTheirTimeOut) {
  const JobId solo = launcher.submit(job_spec("solo"));
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 1, 1}};
  launcher.run_solo(n1, attempt(solo), exit);
  launcher.expect_one<AwaitLogs>();
  launcher.pass(launcher.config.logs_timeout - seconds(1), {&n1, &n2});
  EXPECT_EQ(launcher.status(solo), JobStatus::finalizing);
  launcher.pass(seconds(2), {&n1, &n2});
  EXPECT_EQ(launcher.status(solo), JobStatus::completed);
  EXPECT_EQ(launcher.view(solo).report.value().why,
            Why(EndedWith{AllRanksCompleted{}, {LogsCameLate{"n1"}}}));
}

TEST_F(Gang, LogsOfALostNodeAreGivenUpAndThoseOfAnUnknownOneAwaited) {
  const JobId solo = launcher.submit(job_spec("solo"));
  NodeExitReport exit = node_exit({rank_exit(0, Cause::exit_code, 3)});
  exit.logs = {{0, 1, 1}};
  launcher.run_solo(n1, attempt(solo), exit);
  launcher.expect_one<AwaitLogs>();
  launcher.pass(seconds(8), {&n2});
  EXPECT_EQ(launcher.status(solo), JobStatus::finalizing);
  launcher.pass(seconds(3), {&n2});
  EXPECT_EQ(launcher.status(solo), JobStatus::failed) << "its exit was known before";
  EXPECT_EQ(launcher.view(solo).report.value().exit_code, 3);
}

TEST_F(Gang, APartThatIsNotPreparedInTimeFailsItsAttempt) {
  submit_gang();
  launcher.prepared(n1, first);
  PartReport staging = report(first, PartState::staging);
  launcher.observe(n2, staging);
  launcher.drop_notices();
  staging.progress = "fetching 3.1/12.0 MiB";
  launcher.observe(n2, staging);
  launcher.drop_notices();
  EXPECT_EQ(launcher.why(job),
            (WaitsForParts{{{"n2", PartState::staging, "fetching 3.1/12.0 MiB"}}, 0}));
  launcher.pass(launcher.config.prepare_timeout + seconds(1), {&n1, &n2});
  const AttemptDoomed doomed = launcher.facts<AttemptDoomed>().at(0);
  EXPECT_EQ(doomed.report.cause, Cause::workspace_failed);
  EXPECT_EQ(doomed.report.why, Why(NotPrepared{"n2", minutes(30), "fetching 3.1/12.0 MiB"}));
  EXPECT_EQ(launcher.assignment(n1, first).phase, WantedPhase::stop);
  NodeExitReport stopped = node_failure(Cause::canceled, "");
  launcher.finished(n1, first, stopped);
  launcher.finished(n2, first, stopped);
  EXPECT_EQ(launcher.facts<AttemptEnded>().at(0).report.cause, Cause::workspace_failed);
  EXPECT_EQ(launcher.facts<JobRequeued>().size(), 1U);
}

TEST_F(Gang, ProgressIsShownAndNotStored) {
  submit_gang();
  PartReport staging = report(first, PartState::staging);
  launcher.observe(n1, staging);
  launcher.drop_notices();
  const std::size_t facts = launcher.all_facts().size();
  staging.progress = "unpacking";
  launcher.observe(n1, staging);
  EXPECT_EQ(launcher.expect_one<JobChanged>().job, job);
  EXPECT_EQ(launcher.all_facts().size(), facts);
  EXPECT_EQ(launcher.view(job).attempts.at(0).parts.at(0).progress, "unpacking");
}

TEST_F(Gang, PartStatesOnlyMoveForward) {
  submit_gang();
  prepare();
  const std::size_t facts = launcher.all_facts().size();
  launcher.observe(n1, first, PartState::staging);
  launcher.prepared(n1, first);
  EXPECT_EQ(launcher.all_facts().size(), facts) << "doubled and late reports change nothing";
  launcher.observe(n1, first, PartState::running);
  launcher.observe(n1, first, PartState::prepared);
  EXPECT_EQ(launcher.view(job).attempts.at(0).parts.at(0).state, PartState::running);
}

TEST_F(Gang, ACompletedReportThatLacksRanksIsNotBelieved) {
  const JobId solo = launcher.submit(job_spec("solo", 1, 2));
  launcher.run_solo(n1, attempt(solo), node_exit({rank_exit(0)}));
  const ExitReport verdict = launcher.facts<AttemptEnded>().at(0).report;
  EXPECT_EQ(verdict.cause, Cause::start_failed);
  EXPECT_EQ(verdict.why, Why(NodeFailed{"n1", Cause::start_failed, IncompleteReport{1, 2}}));
}

}  // namespace
}  // namespace lockstep::launcher
