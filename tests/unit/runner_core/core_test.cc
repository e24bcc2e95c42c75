// The runner core, driven through inputs alone; every action must be consumed.
#include "runner/core/core.h"

#include <gtest/gtest.h>

#include <csignal>
#include <deque>

namespace lockstep::runner {
namespace {

Assignment part(int nodes, int ranks_here, Distribution::Kind kind = Distribution::Kind::none) {
  Assignment assignment;
  assignment.attempt = {JobId("job"), 1};
  assignment.spec.resources.instance_count = nodes;
  assignment.spec.distribution = {kind, ranks_here};
  return assignment;
}

GangTable table_of(int nodes) {
  GangTable gang;
  for (int i = 0; i < nodes; ++i) {
    GangMember member;
    member.hostname = "n" + std::to_string(i);
    gang.members.push_back(member);
  }
  gang.master_port = 6105;
  return gang;
}

class RunnerCore : public ::testing::Test {
 protected:
  void TearDown() override { nothing_more(); }

  void give(const Input& input) {
    nothing_more();
    for (auto& action : core.handle(now, input)) actions.push_back(std::move(action));
  }

  void pass(Duration duration) {
    now = now + duration;
    give(Tick{});
  }

  template <typename T>
  T take() {
    if (actions.empty() || !std::holds_alternative<T>(actions.front())) {
      ADD_FAILURE() << "expected another action; next has index "
                    << (actions.empty() ? -1 : static_cast<int>(actions.front().index()));
      return T{};
    }
    T action = std::get<T>(actions.front());
    actions.pop_front();
    return action;
  }

  void nothing_more() {
    EXPECT_EQ(actions.size(), 0u) << "next has index "
                                  << (actions.empty() ? 0 : actions.front().index());
    actions.clear();
  }

  void take_report(PartState state) { EXPECT_EQ(take<Report>().report.state, state); }
  void take_signal(int signal) { EXPECT_EQ(take<SignalRanks>().signal, signal); }

  // A solo job whose ranks live.
  void run_solo(Assignment assignment) {
    assignment.solo = true;
    assignment.phase = WantedPhase::run;
    GangMember self;
    self.hostname = "here";
    give(Begin{assignment, self});
    EXPECT_TRUE(take<LeasePorts>().master_port);
    give(Endpoint{7000, PublicKey("key"), 6105});
    start_all(assignment);
  }

  void start_all(const Assignment& assignment) {
    for (int i = 0; i < assignment.ranks_here(); ++i) {
      const auto start = take<StartRank>();
      EXPECT_EQ(start.rank, assignment.first_rank() + i);
      EXPECT_EQ(start.local_rank, i);
    }
    for (int i = 0; i < assignment.ranks_here(); ++i)
      give(RankStarted{assignment.first_rank() + i, 100 + i});
    take_report(PartState::running);
  }

  // A part of a gang whose ranks live.
  void run_gang(Assignment assignment) {
    give(Begin{assignment});
    EXPECT_EQ(take<LeasePorts>().master_port, assignment.node_rank == 0);
    give(Endpoint{7000, PublicKey("key"), 6105});
    take_report(PartState::prepared);
    assignment.phase = WantedPhase::run;
    assignment.gang = table_of(assignment.nodes());
    give(AssignmentChanged{assignment});
    EXPECT_EQ(take<ConnectGang>().gang, *assignment.gang);
    give(GangConnected{});
    start_all(assignment);
  }

  void take_drain() {
    take<KillEverything>();
    take<DrainLogs>();
  }

  NodeExitReport take_end() {
    const auto written = take<WriteFinalReport>().report;
    const auto reported = take<Report>().report;
    EXPECT_EQ(reported.state, PartState::finished);
    EXPECT_EQ(reported.exit, written);
    take<Leave>();
    return written;
  }

  NodeExitReport drain_and_end() {
    take_drain();
    give(LogsDrained{});
    return take_end();
  }

  NodeExitReport drain_quote_and_end(int rank) {
    take_drain();
    give(LogsDrained{});
    EXPECT_EQ(take<ReadStderrTail>().rank, rank);
    give(StderrTail{rank, "the last words"});
    return take_end();
  }

  Core core;
  Instant now{1'000'000'000};
  std::deque<Action> actions;
};

TEST_F(RunnerCore, SoloJobCompletes) {
  auto assignment = part(1, 2);
  run_solo(assignment);
  ASSERT_TRUE(core.gang().has_value());
  EXPECT_EQ(core.gang()->members.at(0).hostname, "here");
  EXPECT_EQ(core.gang()->master_port, 6105);
  EXPECT_EQ(core.report().runner_port, 0);
  give(RankExited{1, 0, 0, false});
  give(RankExited{0, 0, 0, false});
  take_drain();
  give(LogsDrained{{{0, 10, 2}, {1, 11, 0}}});
  const auto report = take_end();
  EXPECT_EQ(report.cause, Cause::completed);
  EXPECT_FALSE(report.first_failed_rank);
  EXPECT_EQ(report.logs.size(), 2u);
  EXPECT_EQ(report.started, now);
  for (const auto& exit : report.ranks) {
    EXPECT_EQ(exit.cause, Cause::completed);
    EXPECT_TRUE(exit.started);
    EXPECT_FALSE(exit.terminated_by_us);
  }
  EXPECT_EQ(core.next_deadline(), Instant::never());
}

TEST_F(RunnerCore, GangWaitsForTheTableAndTheTree) {
  auto assignment = part(2, 2);
  assignment.node_rank = 1;
  give(Begin{assignment});
  EXPECT_FALSE(take<LeasePorts>().master_port);
  give(GangConnected{});  // too early: ignored
  give(Endpoint{7001, PublicKey("key"), 0});
  const auto prepared = take<Report>().report;
  EXPECT_EQ(prepared.state, PartState::prepared);
  EXPECT_EQ(prepared.runner_port, 7001);
  assignment.phase = WantedPhase::run;
  assignment.gang = table_of(2);
  give(AssignmentChanged{assignment});
  take<ConnectGang>();
  give(AssignmentChanged{assignment});  // doubled
  give(GangConnected{});
  start_all(assignment);
  give(GangConnected{});  // doubled
  give(RankExited{2, 0, 0, false});
  give(RankExited{3, 0, 0, false});
  EXPECT_EQ(std::get<GangDrained>(take<TellGang>().message).node_rank, 1);
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

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

TEST_F(RunnerCore, TimeOutLeavesTheGraceThenKills) {
  auto assignment = part(2, 1);
  assignment.spec.timeout = seconds(60);
  assignment.grace = seconds(10);
  run_gang(assignment);
  EXPECT_EQ(core.next_deadline(), now + seconds(60));
  pass(seconds(60));
  EXPECT_EQ(std::get<GangAbort>(take<TellGang>().message).first.cause, Cause::timeout);
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  pass(seconds(10));
  take_signal(SIGKILL);
  take<KillEverything>();
  pass(kInsistEvery);
  take_signal(SIGKILL);
  take<KillEverything>();
  give(RankExited{0, 0, SIGKILL, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::timeout);
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
}

TEST_F(RunnerCore, CancelOfRunningRanks) {
  auto assignment = part(1, 1);
  run_solo(assignment);
  assignment.phase = WantedPhase::stop;
  give(AssignmentChanged{assignment});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  assignment.phase = WantedPhase::run;  // late: phases only move forward
  give(AssignmentChanged{assignment});
  give(RankExited{0, 0, 0, false});  // it handled SIGTERM
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  EXPECT_TRUE(report.ranks[0].terminated_by_us);
}

TEST_F(RunnerCore, StopAfterAGangFailureDoesNotWaitTheGrace) {
  auto assignment = part(2, 1);
  run_gang(assignment);
  assignment.phase = WantedPhase::stop;
  assignment.stop_reason = StopReason::gang_failed;
  give(AssignmentChanged{assignment});
  take<TellGang>();
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  pass(kFailureGrace);
  take_signal(SIGKILL);
  take<KillEverything>();
  give(RankExited{0, 0, SIGKILL, false});
  EXPECT_EQ(drain_and_end().cause, Cause::canceled);
}

TEST_F(RunnerCore, StopBeforeAnyRankStarted) {
  auto assignment = part(2, 2);
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7000, PublicKey("key"), 6105});
  take_report(PartState::prepared);
  assignment.phase = WantedPhase::stop;
  give(AssignmentChanged{assignment});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  EXPECT_EQ(report.started.ns, 0);
  for (const auto& exit : report.ranks) EXPECT_FALSE(exit.started);
}

TEST_F(RunnerCore, BornStopped) {
  auto assignment = part(1, 1);
  assignment.phase = WantedPhase::stop;
  give(Begin{assignment});
  EXPECT_EQ(drain_and_end().cause, Cause::canceled);
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

TEST_F(RunnerCore, RankThatStartsAfterTheEndWasDecidedIsSignalledToo) {
  auto assignment = part(1, 2);
  assignment.solo = true;
  assignment.phase = WantedPhase::run;
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7000, PublicKey("key"), 6105});
  take<StartRank>();
  take<StartRank>();
  give(RankStartFailed{0, 127, "execve: No such file or directory"});
  take_report(PartState::stopping);
  give(RankStarted{1, 5});
  take_signal(SIGTERM);
  give(RankExited{1, 0, SIGTERM, false});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::command_not_found);
  EXPECT_EQ(exit_code_of(report.ranks[0]), 127);
  EXPECT_FALSE(report.ranks[0].started);
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

TEST_F(RunnerCore, SetupFailureStartsNothing) {
  give(Begin{part(2, 1)});
  take<LeasePorts>();
  give(SetupFailed{Cause::start_failed, "cgroup: permission denied"});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::start_failed);
  EXPECT_EQ(report.message, "cgroup: permission denied");
}

// A peer may be done and gone before a part of the gang ever heard that all are connected.
TEST_F(RunnerCore, AGangThatNeverConnectsFailsToStart) {
  auto assignment = part(2, 1);
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7000, PublicKey("key"), 6105});
  take_report(PartState::prepared);
  assignment.phase = WantedPhase::run;
  assignment.gang = table_of(2);
  give(AssignmentChanged{assignment});
  take<ConnectGang>();
  give(PeerLost{1});
  EXPECT_EQ(core.next_deadline(), now + kConnectWithin);
  pass(kConnectWithin);
  take<TellGang>();
  EXPECT_EQ(drain_and_end().cause, Cause::start_failed);
}

TEST_F(RunnerCore, AVanishedPeerIsTheLaunchersBusiness) {
  run_gang(part(3, 1));
  give(PeerLost{1});
  give(DrainedByGang{});
  give(RankExited{0, 0, 0, false});
  take<TellGang>();
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RunnerCore, DrainAndTailsAreAskedForAgainAndDoNotBlockForEver) {
  run_solo(part(1, 1));
  give(RankExited{0, 1, 0, false});
  take_drain();
  pass(kInsistEvery);
  take_drain();
  give(LogsDrained{});
  take<ReadStderrTail>();
  pass(kTailPatience);
  EXPECT_EQ(take_end().cause, Cause::exit_code);
  give(RankExited{0, 0, 0, false});  // after the end: nothing
}

TEST_F(RunnerCore, LateAndForeignInputsAreHarmless) {
  run_solo(part(1, 1));
  give(RankStarted{0, 9});
  give(RankExited{17, 1, 0, false});
  give(RankConnected{17});
  give(StderrTail{0, "too early"});
  give(LogsDrained{});
  auto other = part(1, 1);
  other.attempt.number = 2;
  other.phase = WantedPhase::stop;
  give(AssignmentChanged{other});
  give(RankExited{0, 0, 0, false});
  take_drain();
  give(RankExited{0, 1, 0, false});  // doubled, different: the first counts
  give(LogsDrained{});
  EXPECT_EQ(take_end().cause, Cause::completed);
}

}  // namespace
}  // namespace lockstep::runner
