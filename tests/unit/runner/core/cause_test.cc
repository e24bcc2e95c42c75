// What the runner names as the cause, whatever order its signs arrive in.
#include "common/domain/why/ranks/ranks.h"
#include "tests/unit/runner/core/fixture.h"

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
  EXPECT_EQ(core.next_deadline(), now + part(2, 3).grace);
  pass(part(2, 3).grace);
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
  EXPECT_EQ(report.why, Why(RankEnded{0, Cause::exit_code, 3, 0, true, {}}));
}

TEST_F(RunnerCore, OutOfMemoryIsNamed) {
  run_solo(part(1, 1));
  give(RankExited{0, 0, SIGKILL, true});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::out_of_memory);
  EXPECT_EQ(report.ranks[0].why, Why(KilledForMemory{}));
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
  EXPECT_EQ(report.why,
            Why(RankEnded{0, Cause::mpi_abort, 42, 0, true, CalledMpiAbort{42, "bad input"}}));
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
  EXPECT_EQ(report.ranks[0].why, Why(NotFinalized{}));
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

TEST_F(RunnerCore, MpiInitThatNeverReachedTheServerIsExplained) {
  struct Case {
    const char* tail;
    Why why;
  };
  for (const Case& c :
       {Case{"MPIR_pmi_init(134): PMI_Init returned -1", MpiInitFailed{true}},
        Case{"Runtime environment uses unsupported PMI version 1.", MpiInitFailed{true}},
        Case{"*** An error occurred in MPI_Init_thread", MpiInitFailed{false}},
        Case{"about:\n    mpi_init:startup:internal-failure", MpiInitFailed{false}},
        Case{"ImportError: no module named mpi4py", {}}}) {
    core = Core();
    run_solo(part(1, 1, Distribution::Kind::mpi));
    give(RankExited{0, 15, 0, false});
    take_drain();
    give(LogsDrained{});
    take<ReadStderrTail>();
    give(StderrTail{0, c.tail});
    const auto report = take_end();
    EXPECT_EQ(report.cause, Cause::exit_code);
    EXPECT_EQ(exit_code_of(report.ranks[0]), 15);
    EXPECT_EQ(report.ranks[0].why, c.why) << c.tail;
    EXPECT_EQ(report.why, Why(RankEnded{0, Cause::exit_code, 15, 0, true, c.why})) << c.tail;
  }
}

TEST_F(RunnerCore, MpiInitOfARankThatHadJoinedIsNotExplained) {
  run_solo(part(1, 1, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankExited{0, 1, 0, false});
  take_drain();
  give(LogsDrained{});
  take<ReadStderrTail>();
  give(StderrTail{0, "MPI_Init failed"});
  pass(kAbortNews);
  EXPECT_FALSE(take_end().ranks[0].why);
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
  abort.why = RankEnded{1, Cause::signal, 0, SIGKILL, true, {}};
  give(AbortFromPeer{abort});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(AbortFromPeer{abort});  // doubled
  give(RankExited{0, 1, 0, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
  EXPECT_EQ(report.why, Why(PeerEndedGang{1, abort.why}));
  ASSERT_TRUE(report.aborted_by);
  EXPECT_EQ(report.aborted_by->why, abort.why);
}

TEST_F(RunnerCore, OfAKilledRankItIsSaidWhoSentTheSignal) {
  struct Case {
    RankExited exited;
    Why why;
  };
  const Case cases[] = {{{0, 0, SIGKILL, false}, KilledFromOutside{}},
                        {{0, 0, SIGKILL, false, true}, KilledByUser{}},
                        {{0, 0, SIGKILL, false, false, "Out of memory: Killed process 7 (a)"},
                         KilledFromOutside{"Out of memory: Killed process 7 (a)"}},
                        {{0, 0, SIGSEGV, false}, {}}};
  for (const Case& c : cases) {
    core = Core();
    run_solo(part(1, 1));
    give(c.exited);
    const auto report = drain_quote_and_end(0);
    EXPECT_EQ(report.cause, Cause::signal);
    EXPECT_EQ(report.ranks[0].why, c.why);
  }
}

TEST_F(RunnerCore, SpawnLostTakesItsRanks) {
  run_solo(part(1, 2));
  give(RankExited{0, 0, 0, false});
  give(SpawnLost{});
  const auto report = drain_quote_and_end(1);
  EXPECT_EQ(report.cause, Cause::runner_lost);
  EXPECT_EQ(report.why, Why(RanksDiedWithSpawn{SpawnEnd::died}));
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_EQ(report.ranks[0].cause, Cause::completed);
  EXPECT_EQ(report.ranks[1].cause, Cause::runner_lost);
  EXPECT_TRUE(is_infrastructure(report.cause));
}

TEST_F(RunnerCore, ALostBootstrapEndsTheRanksThatNeedIt) {
  run_solo(part(1, 2, Distribution::Kind::mpi));
  give(RankConnected{0});
  give(RankConnected{1});
  give(RankFinalized{0});
  give(BootstrapLost{"the PMIx server died"});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 0, SIGTERM, false});
  give(RankExited{1, 0, SIGTERM, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::runner_lost);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_EQ(report.why, Why(RankServerDied{"the PMIx server died"}));
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
}

TEST_F(RunnerCore, ALostBootstrapHarmsNobodyWhoIsDoneWithIt) {
  run_solo(part(1, 2, Distribution::Kind::mpi));
  for (const int rank : {0, 1}) {
    give(RankConnected{rank});
    give(RankFinalized{rank});
  }
  give(RankExited{0, 0, 0, false});
  give(BootstrapLost{"the PMIx server died"});
  give(RankExited{1, 0, 0, false});
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RunnerCore, TakenMasterPortIsItsOwnCause) {
  run_gang(part(2, 1));
  give(MasterPortTaken{});
  take<TellGang>();
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 1, 0, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::port_taken);
  EXPECT_EQ(report.why, Why(PortWasTaken{6105}));
}

// ---- Ray's workers, which end with the head
// ------------------------------------------------------

class RayWorker : public RunnerCore {
 protected:
  static Assignment worker() {
    Assignment assignment = part(2, 1, Distribution::Kind::ray);
    assignment.node_rank = 1;
    return assignment;
  }
};

TEST_F(RayWorker, CompletesWhenTheHeadHas) {
  run_gang(worker());
  give(PeerDone{{0, std::nullopt}});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(PeerDone{{0, std::nullopt}});  // repeated
  give(RankExited{1, 0, SIGTERM, false});
  EXPECT_EQ(std::get<GangNodeDone>(take<TellGang>().message).node_rank, 1);
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::completed);
  ASSERT_EQ(report.ranks.size(), 1u);
  EXPECT_EQ(report.ranks[0].cause, Cause::completed);
  EXPECT_EQ(report.ranks[0].signal, 0);
  EXPECT_FALSE(report.ranks[0].terminated_by_us);
}

TEST_F(RayWorker, IsKilledIfItDoesNotEnd) {
  run_gang(worker());
  give(PeerDone{{0, std::nullopt}});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  pass(worker().grace);
  take_signal(SIGKILL);
  take<KillEverything>();
  give(RankExited{1, 0, SIGKILL, false});
  take<TellGang>();
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RayWorker, StaysWhenAnotherWorkerHasDrained) {
  Assignment assignment = part(3, 1, Distribution::Kind::ray);
  assignment.node_rank = 1;
  run_gang(assignment);
  give(PeerDone{{2, std::nullopt}});
  give(RankExited{1, 1, 0, false});  // Ray on this node has failed
  EXPECT_EQ(std::get<GangAbort>(take<TellGang>().message).first.rank, 1);
  EXPECT_EQ(drain_quote_and_end(1).cause, Cause::exit_code);
}

// ---- ranks that wait over nodes for one that never joined ---------------------------------------

constexpr auto kMpi = Distribution::Kind::mpi;

class MpiGang : public RunnerCore {
 protected:
  // Node 0 of three, whose ranks wait in their first fence, has learnt that it is in vain.
  void expect_to_fail_for(int rank) {
    const auto abort = std::get<GangAbort>(take<TellGang>().message);
    EXPECT_EQ(abort.first.rank, rank);
    EXPECT_EQ(abort.first.cause, Cause::never_connected);
    take_report(PartState::stopping);
    take_signal(SIGTERM);
  }

  void end_for(int rank, int ranks_here) {
    for (int i = 0; i < ranks_here; ++i) give(RankExited{i, 0, SIGTERM, false});
    const auto report = drain_and_end();  // no stderr of a rank that was never here
    EXPECT_EQ(report.cause, Cause::never_connected);
    EXPECT_EQ(report.first_failed_rank, rank);
    EXPECT_EQ(report.why,
              Why(RankEnded{rank, Cause::never_connected, 0, 0, true, NeverJoinedMpi{}}));
    for (const auto& exit : report.ranks) EXPECT_TRUE(exit.terminated_by_us);
  }

  std::optional<bool> told() { return std::get<GangNodeDone>(take<TellGang>().message).connected; }
};

TEST_F(MpiGang, APeerThatEndedBeforeOursConnectedIsNamed) {
  run_gang(part(3, 2, kMpi));
  give(PeerDone{{2, false}});
  give(PeerDone{{1, false}});  // the first heard is the one to name
  give(PeerDone{{2, false}});  // repeated
  give(RankConnected{1});
  expect_to_fail_for(4);
  give(RankConnected{0});      // late
  give(PeerDone{{1, false}});  // late
  end_for(4, 2);
  give(PeerDone{{1, false}});
}

TEST_F(MpiGang, APeerThatEndedAfterOursConnectedIsNamed) {
  run_gang(part(3, 1, kMpi));
  give(RankConnected{0});
  give(PeerDone{{1, false}});
  expect_to_fail_for(1);
  give(PeerDone{{1, false}});
  end_for(1, 1);
}

TEST_F(MpiGang, APeerThatEndedBeforeWeStartedIsNamed) {
  auto assignment = part(2, 1, kMpi);
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7000, PublicKey("key"), 6105});
  take_report(PartState::prepared);
  assignment.phase = WantedPhase::run;
  assignment.gang = table_of(2);
  give(AssignmentChanged{assignment});
  take<ConnectGang>();
  give(PeerDone{{1, false}});
  give(GangConnected{});
  start_all(assignment);
  give(RankConnected{0});
  expect_to_fail_for(1);
  end_for(1, 1);
}

TEST_F(MpiGang, ARankThatSettlesIsNoReasonToSpareThePeer) {
  run_gang(part(2, 1, kMpi));
  give(RankConnected{0});
  give(RankExited{0, 0, 0, false});  // its RankFinalized has not come yet
  give(PeerDone{{1, false}});
  EXPECT_EQ(std::get<GangAbort>(take<TellGang>().message).first.rank, 1);
  EXPECT_EQ(drain_and_end().cause, Cause::never_connected);
}

TEST_F(MpiGang, OfPlainScriptsCompletesInAnyOrder) {
  for (const bool peer_first : {true, false}) {
    core = Core();
    run_gang(part(2, 2, kMpi));
    if (peer_first) give(PeerDone{{1, false}});
    give(RankExited{0, 0, 0, false});
    give(RankExited{1, 0, 0, false});
    pass(kSettle);
    EXPECT_EQ(told(), false);
    take_drain();
    if (!peer_first) give(PeerDone{{1, false}});
    give(LogsDrained{});
    EXPECT_EQ(take_end().cause, Cause::completed);
  }
}

TEST_F(MpiGang, IsNotToldOfARankWhoseConnectionWasHeardAfterItsExit) {
  run_gang(part(2, 1, kMpi));
  give(PeerDone{{1, true}});
  give(RankExited{0, 0, 0, false});
  give(RankConnected{0});
  give(RankFinalized{0});
  EXPECT_EQ(told(), true);
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(MpiGang, RunsTwoMpiProgramsInARow) {
  run_gang(part(2, 1, kMpi));
  for (int program = 0; program < 2; ++program) {
    give(RankConnected{0});
    give(RankFinalized{0});
  }
  give(PeerDone{{1, true}});
  give(RankExited{0, 0, 0, false});
  EXPECT_EQ(told(), true);
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

// Its peers joined, met nobody and left: here the rank itself is at hand, and is quoted.
TEST_F(MpiGang, OurRankThatNeverConnectedWhilePeersDid) {
  for (const bool peer_first : {true, false}) {
    core = Core();
    run_gang(part(2, 2, kMpi));
    if (peer_first) give(PeerDone{{1, true}});
    give(RankExited{1, 0, 0, false});
    pass(kSettle);
    if (peer_first) {
      std::get<GangAbort>(take<TellGang>().message);
    } else {
      give(PeerDone{{1, true}});
      pass(kSettle);
      std::get<GangAbort>(take<TellGang>().message);
    }
    take_report(PartState::stopping);
    take_signal(SIGTERM);
    give(RankExited{0, 0, SIGTERM, false});
    const auto report = drain_quote_and_end(1);
    EXPECT_EQ(report.cause, Cause::never_connected);
    EXPECT_EQ(report.first_failed_rank, 1);
  }
}

TEST_F(MpiGang, NothingIsConcludedFromAPeerThatDoesNotSay) {
  run_gang(part(2, 1, kMpi));
  give(RankConnected{0});
  give(PeerDone{{1, std::nullopt}});
  give(RankFinalized{0});
  give(RankExited{0, 0, 0, false});
  EXPECT_EQ(told(), true);
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(MpiGang, OtherKindsSayNothingAndWaitForNothing) {
  run_gang(part(2, 1, Distribution::Kind::pytorch));
  give(PeerDone{{1, false}});
  give(RankExited{0, 0, 0, false});
  EXPECT_EQ(told(), std::nullopt);
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

}  // namespace
}  // namespace lockstep::runner
