// What the runner names as the cause, whatever order its signs arrive in.
#include "tests/unit/runner_core/fixture.h"

namespace lockstep::runner {
namespace {

TEST_F(RunnerCore, FirstFailureEndsTheGangAndTheRestAreConsequences) {
  run_gang(part(2, 3));
  give(RankExited{1, 0, SIGKILL, false});
  const auto abort = std::get<GangAbort>(take<TellGang>().message);
  EXPECT_EQ(abort.first.rank, 1);
  EXPECT_EQ(abort.first.signal, SIGKILL);
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 0, SIGTERM, false});
  EXPECT_EQ(core.next_deadline(), now + kFailureGrace);
  pass(kFailureGrace);
  take_signal(SIGKILL);
  take<KillEverything>();
  give(RankExited{2, 0, SIGKILL, false});
  const auto report = drain_quote_and_end(1);
  EXPECT_EQ(report.cause, Cause::signal);
  EXPECT_EQ(report.first_failed_rank, 1);
  EXPECT_EQ(report.ranks[1].stderr_tail, "the last words");
  EXPECT_FALSE(report.ranks[1].terminated_by_us);
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
  EXPECT_TRUE(report.ranks[2].terminated_by_us);
}

TEST_F(RunnerCore, NonZeroExitCode) {
  run_solo(part(1, 1));
  give(RankExited{0, 3, 0, false});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::exit_code);
  EXPECT_EQ(exit_code_of(report.ranks[0]), 3);
  EXPECT_EQ(report.message, "rank 0 exited with code 3");
}

TEST_F(RunnerCore, OutOfMemoryIsNamed) {
  run_solo(part(1, 1));
  give(RankExited{0, 0, SIGKILL, true});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::out_of_memory);
  EXPECT_EQ(exit_code_of(report.ranks[0]), 137);
}

TEST_F(RunnerCore, AbortCodeWinsOverTheSignalItCauses) {
  run_solo(part(1, 2, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankConnected{1});
  give(RankAborted{0, 42, "bad input"});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 0, SIGTERM, false});
  give(RankExited{1, 0, SIGTERM, false});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::mpi_abort);
  EXPECT_EQ(exit_code_of(report.ranks[0]), 42);
  EXPECT_FALSE(report.ranks[0].terminated_by_us);
  EXPECT_TRUE(report.ranks[1].terminated_by_us);
  EXPECT_EQ(report.message, "rank 0 called MPI_Abort(42): bad input");
}

TEST_F(RunnerCore, AbortThatIsHeardAfterTheDeathItCaused) {
  run_solo(part(1, 2, Distribution::Kind::mpi));
  give(RankExited{0, 0, SIGABRT, false});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankAborted{0, 7, ""});
  give(RankAborted{1, 9, ""});  // a consequence: the first failure stays
  give(RankExited{1, 0, SIGTERM, false});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::mpi_abort);
  EXPECT_EQ(report.first_failed_rank, 0);
  EXPECT_EQ(exit_code_of(report.ranks[0]), 7);
  EXPECT_TRUE(report.ranks[1].terminated_by_us);
}

TEST_F(RunnerCore, AbortThatIsHeardWhenNothingElseIsLeftToDo) {
  run_solo(part(1, 1, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankExited{0, 0, SIGABRT, false});
  take_drain();
  give(LogsDrained{});
  take<ReadStderrTail>();
  give(StderrTail{0, ""});
  EXPECT_EQ(core.next_deadline(), now + kAbortNews);
  give(RankAborted{0, 42, ""});
  pass(kAbortNews);
  EXPECT_EQ(take_end().cause, Cause::mpi_abort);
}

TEST_F(RunnerCore, ExitZeroBeforeFinalizeFails) {
  run_solo(part(1, 1, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankExited{0, 0, 0, false});
  EXPECT_EQ(core.next_deadline(), now + kSettle);
  pass(kSettle);
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::exit_without_finalize);
  EXPECT_NE(exit_code_of(report.ranks[0]), 0);
}

TEST_F(RunnerCore, FinalizeThatIsHeardLateIsNoFailure) {
  run_solo(part(1, 1, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankExited{0, 0, 0, false});
  give(RankFinalized{0});
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RunnerCore, RankThatNeverConnectedWhileAnotherDid) {
  run_solo(part(1, 2, Distribution::Kind::mpi));
  give(RankExited{0, 0, 0, false});
  give(RankConnected{1});
  pass(kSettle);
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{1, 0, SIGTERM, false});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::never_connected);
  EXPECT_EQ(report.first_failed_rank, 0);
}

TEST_F(RunnerCore, PlainScriptUnderMpiCompletes) {
  run_solo(part(1, 2, Distribution::Kind::mpi));
  give(RankExited{0, 0, 0, false});
  give(RankExited{1, 0, 0, false});
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RunnerCore, TwoMpiProgramsInARow) {
  run_solo(part(1, 1, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankFinalized{0});
  give(RankConnected{0});
  give(RankExited{0, 0, 0, false});
  pass(kSettle);
  EXPECT_EQ(drain_quote_and_end(0).cause, Cause::exit_without_finalize);
}

TEST_F(RunnerCore, PeerAbortTerminatesAndBlamesNobodyHere) {
  run_gang(part(2, 1));
  GangAbort abort;
  abort.node_rank = 1;
  abort.first.rank = 1;
  abort.first.cause = Cause::signal;
  abort.message = "rank 1 was killed by signal 9";
  give(AbortFromPeer{abort});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(AbortFromPeer{abort});  // doubled
  give(RankExited{0, 1, 0, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
  EXPECT_EQ(report.message, "node rank 1 ended the gang: rank 1 was killed by signal 9");
}

TEST_F(RunnerCore, SpawnLostTakesItsRanks) {
  run_solo(part(1, 2));
  give(RankExited{0, 0, 0, false});
  give(SpawnLost{});
  const auto report = drain_quote_and_end(1);
  EXPECT_EQ(report.cause, Cause::runner_lost);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_EQ(report.ranks[0].cause, Cause::completed);
  EXPECT_EQ(report.ranks[1].cause, Cause::runner_lost);
  EXPECT_TRUE(is_infrastructure(report.cause));
}

TEST_F(RunnerCore, TakenMasterPortIsItsOwnCause) {
  run_gang(part(2, 1));
  give(MasterPortTaken{});
  take<TellGang>();
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 1, 0, false});
  EXPECT_EQ(drain_and_end().cause, Cause::port_taken);
}

}  // namespace
}  // namespace lockstep::runner
