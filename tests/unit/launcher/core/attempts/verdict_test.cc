// What the ends of ranks mean: cause, exit code, reason.

#include "launcher/core/attempts/verdict.h"
#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/ranks/parts.h"
#include "common/domain/why/ranks/ranks.h"

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Instant at(int ms) { return Instant{1'700'000'000'000'000'000 + ms * 1'000'000LL}; }

// The report of a two-node job of two ranks a node, whose parts end like this.
ExitReport verdict_on(NodeExitReport first, NodeExitReport second) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  JobSpec spec = job_spec("job", 2, 2);
  spec.retry.max = 0;
  const JobId job = launcher.submit(spec);
  launcher.prepared(n1, attempt(job));
  launcher.prepared(n2, attempt(job));
  launcher.finished(n1, attempt(job), std::move(first));
  launcher.finished(n2, attempt(job), std::move(second));
  return launcher.view(job).report.value_or(ExitReport{});
}

NodeExitReport all_terminated(int first_rank) {
  return node_exit({terminated(first_rank, at(50)), terminated(first_rank + 1, at(50))});
}

struct Expected {
  RankExit exit;
  int exit_code;
};

TEST(Verdict, SaysHowARankFailed) {
  RankExit aborted = rank_exit(3, Cause::mpi_abort, 42, at(10));
  aborted.why = CalledMpiAbort{42, ""};
  RankExit aborted_well = rank_exit(3, Cause::mpi_abort, 0, at(10));
  RankExit missing = rank_exit(3, Cause::command_not_found, 127, at(10));
  missing.why = RankNotStarted{StartStep::exec, "trian.py", false, "No such file or directory"};
  RankExit refused = rank_exit(3, Cause::exit_code, 15, at(10));
  refused.why = told("MPI_Init failed");
  const std::vector<Expected> cases = {
      {rank_exit(3, Cause::exit_code, 7, at(10)), 7},
      {refused, 15},
      {rank_exit(3, Cause::signal, 9, at(10)), 137},
      {rank_exit(3, Cause::signal, 60, at(10)), 188},
      {rank_exit(3, Cause::out_of_memory, 9, at(10)), 137},
      {aborted, 42},
      {aborted_well, 1},
      {rank_exit(3, Cause::exit_without_finalize, 0, at(10)), 1},
      {missing, 127},
      {rank_exit(3, Cause::command_not_executable, 126, at(10)), 126},
  };
  for (const Expected& expected : cases) {
    const RankExit& exit = expected.exit;
    const ExitReport report =
        verdict_on(all_terminated(0), node_exit({terminated(2, at(50)), expected.exit}));
    EXPECT_EQ(report.why,
              Why(RankFailed{3, "n2", exit.cause, exit.exit_code, exit.signal, exit.why}));
    EXPECT_EQ(report.exit_code, expected.exit_code) << to_string(exit.cause);
    EXPECT_EQ(report.rank, 3);
    EXPECT_EQ(report.node_name, "n2");
    EXPECT_EQ(report.cause, exit.cause);
  }
}

TEST(Verdict, NamesTheFirstFailureByTimeAndListsWhatWasTerminated) {
  RankExit late = rank_exit(0, Cause::exit_code, 1, at(30));
  RankExit early = rank_exit(2, Cause::exit_code, 5, at(20));
  early.stderr_tail = "ValueError: bad batch";
  const ExitReport report = verdict_on(node_exit({late, terminated(1, at(40))}),
                                       node_exit({early, terminated(3, at(25))}));
  EXPECT_EQ(report.rank, 2);
  EXPECT_EQ(report.exit_code, 5);
  EXPECT_EQ(report.stderr_tail, "ValueError: bad batch");
  EXPECT_EQ(report.time, at(20));
  EXPECT_THAT(report.terminated_ranks, ElementsAre(1, 3));
}

RankExit cut_off(int rank, int from_node, Instant time) {
  RankExit exit = rank_exit(rank, Cause::exit_code, 1, time);
  exit.lost_peer = LostPeer{"10.0.0.2", from_node, {}, false};
  return exit;
}

TEST(Verdict, ABrokenConnectionComesAfterTheEndOfItsPeer) {
  const RankExit killed = rank_exit(3, Cause::signal, 9, at(20));
  const ExitReport report = verdict_on(node_exit({cut_off(0, 1, at(10)), terminated(1, at(40))}),
                                       node_exit({terminated(2, at(50)), killed}));
  EXPECT_EQ(report.rank, 3) << "its node's clock is not known so well";
  EXPECT_THAT(report.also, IsEmpty());
  EXPECT_FALSE(report.lost_peer);
}

TEST(Verdict, RanksThatNameEachOtherAreOrderedByTime) {
  const ExitReport report = verdict_on(node_exit({cut_off(0, 1, at(10)), terminated(1, at(40))}),
                                       node_exit({cut_off(2, 0, at(20)), terminated(3, at(50))}));
  EXPECT_EQ(report.rank, 0);
  ASSERT_TRUE(report.lost_peer);
  EXPECT_EQ(report.lost_peer->node_rank, 1);
}

TEST(Verdict, ABrokenConnectionToANodeThatDidNotFailIsTheCause) {
  const ExitReport report = verdict_on(node_exit({cut_off(0, 1, at(10)), terminated(1, at(40))}),
                                       node_exit({rank_exit(2), rank_exit(3)}));
  EXPECT_EQ(report.rank, 0);
  ASSERT_TRUE(report.lost_peer);
}

TEST(Verdict, AHangIsOfNoRank) {
  NodeExitReport root = all_terminated(0);
  root.cause = Cause::hang;
  root.why = GangHung{FoundKind::stopped, {3}};
  root.hang = Found{};
  root.hang->kind = FoundKind::stopped;
  const ExitReport report = verdict_on(root, all_terminated(2));
  EXPECT_EQ(report.cause, Cause::hang);
  EXPECT_EQ(report.exit_code, 124);
  EXPECT_FALSE(report.rank);
  ASSERT_TRUE(report.hang);
  EXPECT_EQ(report.hang->kind, FoundKind::stopped);
  ASSERT_TRUE(report.why.is<RanksHang>());
  EXPECT_EQ(report.why.as<RanksHang>()->found->kind, FoundKind::stopped);
}

// A stopped rank ends by SIGKILL alone, seconds after the ranks that waited for it.
TEST(Verdict, ARankThatFailsWhileAHangIsEndedIsNotTheCause) {
  NodeExitReport root = all_terminated(0);
  root.cause = Cause::hang;
  root.hang = Found{};
  root.hang->kind = FoundKind::stopped;
  const ExitReport report = verdict_on(
      root, node_exit({rank_exit(2, Cause::exit_code, 1, at(40)), terminated(3, at(45))}));
  EXPECT_EQ(report.cause, Cause::hang);
  EXPECT_THAT(report.also, IsEmpty());
}

TEST(Verdict, RanksThatWeTerminatedAreNeverTheCause) {
  const ExitReport report =
      verdict_on(node_exit({terminated(0, at(1)), terminated(1, at(1))}),
                 node_exit({rank_exit(2, Cause::exit_code, 9, at(60)), terminated(3, at(2))}));
  EXPECT_EQ(report.rank, 2);
}

TEST(Verdict, WithinANodeItsRunnerKnowsTheOrder) {
  NodeExitReport exit = node_exit(
      {rank_exit(2, Cause::exit_code, 1, at(10)), rank_exit(3, Cause::exit_code, 2, at(10))});
  exit.first_failed_rank = 3;
  EXPECT_EQ(verdict_on(all_terminated(0), exit).rank, 3);
}

// Ranks 2 and 3 never called MPI_Init: n2's runner saw them exit 0 and was gone when n1's ranks
// did.
TEST(Verdict, ARankThatNeverJoinedIsNamedByTheNodeThatWaitedForIt) {
  NodeExitReport waited = all_terminated(0);
  waited.cause = Cause::never_connected;
  waited.first_failed_rank = 2;
  const NodeExitReport alone = node_exit({rank_exit(2), rank_exit(3)});
  const ExitReport report = verdict_on(waited, alone);
  EXPECT_EQ(report.cause, Cause::never_connected);
  EXPECT_EQ(report.rank, 2);
  EXPECT_EQ(report.node_name, "n2");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.time, at(50));
  EXPECT_EQ(report.why, Why(RankFailed{2, "n2", Cause::never_connected}));
  EXPECT_THAT(report.terminated_ranks, ElementsAre(0, 1));
}

TEST(Verdict, AFailureBeforeTheWaitForAnUnconnectedRankEndedIsTheCause) {
  NodeExitReport waited = all_terminated(0);
  waited.cause = Cause::never_connected;
  waited.first_failed_rank = 2;
  const NodeExitReport crashed = node_exit({rank_exit(2), rank_exit(3, Cause::signal, 11, at(20))});
  EXPECT_EQ(verdict_on(waited, crashed).rank, 3);
}

TEST(Verdict, ARankThatTheJobDoesNotHaveIsNotBelieved) {
  NodeExitReport waited = all_terminated(0);
  waited.cause = Cause::never_connected;
  for (const int rank : {4, 1'000'000}) {
    waited.first_failed_rank = rank;
    const ExitReport report = verdict_on(waited, node_exit({rank_exit(2), rank_exit(3)}));
    EXPECT_NE(report.cause, Cause::completed);
    EXPECT_FALSE(report.rank);
  }
}

TEST(Verdict, ATimeOutEndsWith124) {
  NodeExitReport exit = all_terminated(0);
  exit.cause = Cause::timeout;
  const ExitReport report =
      verdict_on(exit, node_exit({rank_exit(2, Cause::exit_code, 1, at(51)), terminated(3)}));
  EXPECT_EQ(report.cause, Cause::timeout);
  EXPECT_EQ(report.exit_code, 124);
  EXPECT_FALSE(report.rank.has_value());
  EXPECT_EQ(report.why, Why(NodeFailed{"n1", Cause::timeout}));
}

TEST(Verdict, WhatANodeCouldNotStartEndsWith125) {
  NodeExitReport failed = node_failure(Cause::start_failed, "user 'bob' is not known there");
  const ExitReport report = verdict_on(failed, all_terminated(2));
  EXPECT_EQ(report.exit_code, 125);
  EXPECT_EQ(report.why,
            Why(NodeFailed{"n1", Cause::start_failed, told("user 'bob' is not known there")}));
}

TEST(Verdict, ADeadRunnerIsTheCauseEvenIfRanksElsewhereFailedSooner) {
  const ExitReport report =
      verdict_on(node_exit({rank_exit(0, Cause::exit_code, 1, at(1)), terminated(1)}),
                 node_failure(Cause::runner_lost, "killed by signal 9"));
  EXPECT_EQ(report.cause, Cause::runner_lost);
  EXPECT_EQ(report.why, Why(NodeFailed{"n2", Cause::runner_lost, told("killed by signal 9")}));
}

TEST(Verdict, RanksThatNobodyHereStoppedAreReportedAsSuch) {
  const ExitReport report = verdict_on(all_terminated(0), all_terminated(2));
  EXPECT_EQ(report.cause, Cause::start_failed);
  EXPECT_EQ(report.why, Why(StoppedUnasked{"n1"}));
}

// Its node was rebooted: nothing of the part is left there, and no silence can change its verdict.
TEST(Verdict, IsNotHeldForAnUnknownNodeWhosePartIsSettled) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("gang", 2));
  const AttemptId first = attempt(job);
  launcher.prepared(n1, first);
  launcher.prepared(n2, first);
  launcher.observe(n1, first, PartState::running);
  launcher.observe(n2, first, PartState::running);
  launcher.finished(n1, first, node_exit({rank_exit(0, Cause::exit_code, 7)}));
  launcher.reboot(n1);
  launcher.drop_notices();
  launcher.pass(seconds(4), {&n2});
  ASSERT_EQ(launcher.liveness(n1), Liveness::unknown);
  launcher.finished(n2, first, node_exit({terminated(1)}));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 7);
}

TEST(Verdict, OnAFailedRankIsHeldWhileANodeOfTheGangIsUnknown) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2));
  launcher.prepared(n1, attempt(job));
  launcher.prepared(n2, attempt(job));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(1)}));
  launcher.pass(seconds(5), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::unknown);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0, Cause::exit_code, 1)}));
  EXPECT_THAT(launcher.facts<AttemptEnded>(), IsEmpty());
  EXPECT_EQ(launcher.why(job), (WaitsForVerdict{NodeStanding{"n2", Liveness::unknown}}));
  launcher.beat(n2);
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<AttemptEnded>().at(0).report.rank, 0);
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
}

TEST(Verdict, OnAFailedRankBecomesTheNodesIfTheUnknownNodeIsLost) {
  for (const bool part_had_finished : {true, false}) {
    TestLauncher launcher;
    FakeNode n1 = launcher.join("n1");
    FakeNode n2 = launcher.join("n2");
    const JobId job = launcher.submit(job_spec("job", 2));
    launcher.prepared(n1, attempt(job));
    launcher.prepared(n2, attempt(job));
    if (part_had_finished) launcher.finished(n2, attempt(job), node_exit({terminated(1)}));
    launcher.pass(seconds(5), {&n1});
    launcher.finished(n1, attempt(job), node_exit({rank_exit(0, Cause::exit_code, 1)}));
    if (!part_had_finished) {
      EXPECT_EQ(launcher.assignment(n1, attempt(job)).phase, WantedPhase::stop)
          << "others are stopped while the verdict waits";
    }
    EXPECT_THAT(launcher.facts<AttemptEnded>(), IsEmpty());
    launcher.pass(seconds(6), {&n1});
    const ExitReport report = launcher.facts<AttemptEnded>().at(0).report;
    EXPECT_EQ(report.cause, Cause::node_lost);
    EXPECT_EQ(report.node, n2.id);
    EXPECT_EQ(launcher.status(job), JobStatus::queued) << "retried: nobody's program was at fault";
  }
}

// The node no longer had the part's directory: nothing it will say can change what is known of it.
TEST(Verdict, DoesNotWaitForAnUnknownNodeWhosePartIsReleased) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2));
  launcher.prepared(n1, attempt(job));
  launcher.prepared(n2, attempt(job));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(1, Cause::exit_code, 6)}));
  launcher.restart_agent(n2, {});
  launcher.drop_notices();
  launcher.pass(seconds(5), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::unknown);
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 6);
}

TEST(Verdict, ANodeLostAfterItsRanksEndedWellDoesNotFailTheJob) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2));
  launcher.prepared(n1, attempt(job));
  launcher.prepared(n2, attempt(job));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(1)}));
  launcher.pass(seconds(15), {&n1});
  ASSERT_EQ(launcher.liveness(n2), Liveness::lost);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

}  // namespace
}  // namespace lockstep::launcher
