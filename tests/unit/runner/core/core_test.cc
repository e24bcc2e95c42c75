// From the first assignment to the end: starting, stopping, time-outs, draining.
#include "tests/unit/runner/core/fixture.h"

namespace lockstep::runner {
namespace {

TEST_F(RunnerCore, SoloJobCompletes) {
  auto assignment = part(1, 2, Distribution::Kind::pytorch);
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

TEST_F(RunnerCore, ARankThatHasEndedIsToldWhileOthersRun) {
  run_solo(part(1, 2));
  EXPECT_TRUE(core.report().ended.empty());
  now = now + seconds(3);
  give(RankExited{1, 0, 0, false});
  const auto ended = core.report().ended;
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].rank, 1);
  EXPECT_EQ(ended[0].exit_code, 0);
  EXPECT_FALSE(ended[0].failed);
  EXPECT_EQ(ended[0].time, now);
  give(RankExited{0, 0, 0, false});
  take_drain();
  give(LogsDrained{{}});
  EXPECT_EQ(take_end().ranks.size(), 2u);
  EXPECT_TRUE(core.report().ended.empty()) << "the final report has all";
}

TEST_F(RunnerCore, OnlyPortsOfWhichRanksAreToldAreLeased) {
  struct Case {
    Distribution distribution;
    bool master_port;
    int rank_ports;
  };
  using Kind = Distribution::Kind;
  for (const Case& expected : {Case{{Kind::none, 2}, false, 0}, Case{{Kind::mpi, 2}, true, 0},
                               Case{{Kind::pytorch, 2}, true, 0}, Case{{Kind::ray, 1}, true, 0},
                               Case{tensorflow_on(1, 2, 1), false, 3}}) {
    SCOPED_TRACE(to_string(expected.distribution.kind));
    auto assignment = part(1, 1);
    assignment.spec.distribution = expected.distribution;
    Core fresh;
    const auto ordered = fresh.handle(now, Begin{assignment});
    ASSERT_EQ(ordered.size(), 1u);
    const auto& lease = std::get<LeasePorts>(ordered.front());
    EXPECT_EQ(lease.master_port, expected.master_port);
    EXPECT_EQ(lease.rank_ports, expected.rank_ports);
  }
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
  EXPECT_EQ(std::get<GangNodeDone>(take<TellGang>().message).node_rank, 1);
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RunnerCore, AShareIsEnoughToConnectAndTheTableComesWithIt) {
  auto assignment = part(2, 1);
  assignment.node_rank = 1;
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7001, PublicKey("key"), 0});
  EXPECT_EQ(take<Report>().report.gang_rows, kGangRowsVersion);
  assignment.phase = WantedPhase::run;
  assignment.share = share_of(table_of(2), 1, 32, {});
  give(AssignmentChanged{assignment});
  const auto connect = take<ConnectGang>();
  EXPECT_FALSE(connect.gang);
  EXPECT_EQ(connect.share, assignment.share);
  EXPECT_FALSE(core.gang());
  give(GangConnected{table_of(2)});
  EXPECT_EQ(core.gang(), table_of(2));
  start_all(assignment);
  give(RankExited{1, 0, 0, false});
  take<TellGang>();
  EXPECT_EQ(drain_and_end().cause, Cause::completed);
}

TEST_F(RunnerCore, AnAssignmentThatAlreadySaysRunConnectsWithItsShare) {
  auto assignment = part(2, 1);
  assignment.node_rank = 1;
  assignment.phase = WantedPhase::run;
  assignment.share = share_of(table_of(2), 1, 32, {});
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7001, PublicKey("key"), 0});
  EXPECT_EQ(take<ConnectGang>().share, assignment.share);
  assignment.phase = WantedPhase::stop;
  assignment.share.reset();  // the order to stop has neither table nor share
  give(AssignmentChanged{assignment});
  take<TellGang>();
  EXPECT_EQ(drain_and_end().cause, Cause::canceled);
}

// An agent that knows no shares drops them.
TEST_F(RunnerCore, AnOrderToRunWithoutATableFailsTheStart) {
  for (const bool is_root : {true, false}) {
    SCOPED_TRACE(is_root);
    core = Core();
    auto assignment = part(2, 1);
    assignment.node_rank = is_root ? 0 : 1;
    give(Begin{assignment});
    take<LeasePorts>();
    give(Endpoint{7001, PublicKey("key"), 0});
    take_report(PartState::prepared);
    assignment.phase = WantedPhase::run;
    if (is_root) assignment.share = share_of(table_of(2), 0, 32, {});
    give(AssignmentChanged{assignment});
    const auto report = drain_and_end();
    EXPECT_EQ(report.cause, Cause::start_failed);
    EXPECT_EQ(report.why, Why(OrderLacksGang{}));
  }
}

TEST_F(RunnerCore, AnEarlySignalComesOnceBeforeTheTimeLimit) {
  auto assignment = part(1, 1);
  assignment.spec.timeout = seconds(60);
  assignment.spec.stop.signal = EarlySignal{SIGUSR1, seconds(20)};
  run_solo(assignment);
  EXPECT_EQ(core.next_deadline(), now + seconds(40));
  pass(seconds(40));
  EXPECT_EQ(take<WarnRanks>().signal, SIGUSR1);
  EXPECT_EQ(core.next_deadline(), now + seconds(20));
  pass(seconds(20) - milliseconds(1));
  pass(milliseconds(1));
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 0, SIGTERM, false});
  EXPECT_EQ(drain_and_end().cause, Cause::timeout);
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

TEST_F(RunnerCore, AStopByThePeerIsNotedForTheLauncher) {
  run_gang(part(2, 1));
  RankExit first;
  first.cause = Cause::timeout;
  give(AbortFromPeer{{1, first, RanTooLong{seconds(2)}}});
  take_report(PartState::stopping);
  take_signal(SIGTERM);
  give(RankExited{0, 0, SIGTERM, false});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::canceled);
  EXPECT_EQ(report.aborted_by, (PeerAbort{1, first, RanTooLong{seconds(2)}}));
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

TEST_F(RunnerCore, RankThatStartsAfterTheEndWasDecidedIsSignalledToo) {
  auto assignment = part(1, 2);
  assignment.solo = true;
  assignment.phase = WantedPhase::run;
  give(Begin{assignment});
  take<LeasePorts>();
  give(Endpoint{7000, PublicKey("key"), 6105});
  take<StartRank>();
  take<StartRank>();
  give(RankStartFailed{0, 127, told("execve: No such file or directory")});
  take_report(PartState::stopping);
  give(RankStarted{1, 5});
  take_signal(SIGTERM);
  give(RankExited{1, 0, SIGTERM, false});
  const auto report = drain_quote_and_end(0);
  EXPECT_EQ(report.cause, Cause::command_not_found);
  EXPECT_EQ(exit_code_of(report.ranks[0]), 127);
  EXPECT_FALSE(report.ranks[0].started);
}

TEST_F(RunnerCore, SetupFailureStartsNothing) {
  give(Begin{part(2, 1)});
  take<LeasePorts>();
  give(SetupFailed{Cause::start_failed, told("cgroup: permission denied")});
  const auto report = drain_and_end();
  EXPECT_EQ(report.cause, Cause::start_failed);
  EXPECT_EQ(report.why, told("cgroup: permission denied"));
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
  give(PeerDone{{1}});
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
  pass(kTailTimeout);
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
