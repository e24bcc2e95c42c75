// The agent core, driven through inputs alone; every action must be consumed.
#include <csignal>

#include "common/domain/why/ranks/parts.h"
#include "tests/unit/agent/core/fixture.h"

namespace lockstep::agent {
namespace {

TEST_F(AgentCore, APartFromWantedToRemoved) {
  auto assignment = part(1);
  run(assignment, PartState::prepared);
  assignment.phase = WantedPhase::run;
  hear(Desired{kSession, wanting({assignment})});
  EXPECT_EQ(take<UpdateRunner>().assignment.phase, WantedPhase::run);
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::running)});
  EXPECT_EQ(observed_and_acked().state, PartState::running);
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  EXPECT_EQ(take<CollectOutputs>().assignment.attempt, assignment.attempt);
  NotKept lost;
  lost.names = {"model.pt"};
  give(OutputsCollected{assignment.attempt, some_outputs(), lost});
  const auto last = observed_and_acked();
  EXPECT_EQ(last.state, PartState::finished);
  EXPECT_TRUE(last.exit.has_value());
  EXPECT_EQ(last.outputs, some_outputs());
  EXPECT_EQ(last.not_kept, lost);
  hear(Desired{kSession, wanting({})});
  EXPECT_EQ(take<RemovePart>().attempt, assignment.attempt);
  give(PartRemoved{assignment.attempt});
  EXPECT_EQ(removed_and_acked(), assignment.attempt);
  EXPECT_TRUE(core.observed().empty());
}

TEST_F(AgentCore, SessionIsOpenedUntilAccepted) {
  open();
  pass(seconds(1));
  take<SendSession>();
  accept({});
  pass(seconds(1));
  EXPECT_EQ(take<SendHeartbeat>().beat.desired_revision, 1u);
  hear(HeartbeatAck{kSession});
  hear(SessionLost{kSession});
  take<SendSession>();
  hear(SessionLost{kSession});  // doubled: the session is being opened already
  accept({});
}

TEST_F(AgentCore, WordsForAnotherSessionAreIgnored) {
  open();
  hear(SessionAccepted{SessionId(1), seconds(1), {5, {part(1)}}});
  hear(SessionRefused{SessionId(1), "cloned"});
  hear(SessionLost{SessionId(1)});
  accept({});
  hear(Desired{SessionId(1), {9, {part(1)}}});
  hear(Refused{});
}

TEST_F(AgentCore, RefusedMeansLeave) {
  open();
  hear(SessionRefused{kSession, "two nodes use this identity"});
  EXPECT_EQ(take<ExitAgent>().reason, "two nodes use this identity");
  pass(seconds(60));
  EXPECT_EQ(core.next_deadline(), Instant::never());
}

TEST_F(AgentCore, AQuestionIsAnsweredByTheNextOpening) {
  open();
  accept({});
  hear(SessionLost{kSession, 77});
  EXPECT_EQ(take<SendSession>().open.answers, 77u);
  hear(SessionLost{kSession, 78});
  pass(seconds(1));
  EXPECT_EQ(take<SendSession>().open.answers, 78u) << "the newest question counts";
}

TEST_F(AgentCore, ARemovedNodeEndsWhatRunsBeforeItLeaves) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  hear(SessionRefused{kSession, "node n1 was removed", true});
  const auto told = take<UpdateRunner>();
  EXPECT_EQ(told.assignment.phase, WantedPhase::stop);
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  EXPECT_EQ(take<RemovePart>().attempt, assignment.attempt);
  give(PartRemoved{assignment.attempt});
  EXPECT_EQ(take<ExitAgent>().reason, "node n1 was removed");
}

TEST_F(AgentCore, ARemovedNodeWithoutPartsLeavesAtOnce) {
  open();
  hear(SessionRefused{kSession, "node n1 was removed", true});
  EXPECT_EQ(take<ExitAgent>().reason, "node n1 was removed");
}

TEST_F(AgentCore, SilenceOfTheLauncherKillsNothing) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  for (int i = 0; i < 4; ++i) {
    pass(seconds(1));
    take<SendHeartbeat>();
  }
  pass(seconds(1));
  take<Reconnect>();
  EXPECT_EQ(core.next_deadline(), Instant::never());
  pass(minutes(60));
  give(Connected{});
  const auto open = take<SendSession>().open;
  ASSERT_EQ(open.parts.size(), 1u);
  EXPECT_EQ(open.parts[0].state, PartState::running);
  EXPECT_EQ(open.desired_revision, 1u);  // what is newer was not known when this was written
  accept({assignment});
  take<CaptureFolders>();  // they waited for the launcher
  take<CaptureCheckpoint>();
}

// Of a launcher that has thousands of nodes to answer.
TEST_F(AgentCore, AsksASlowLauncherLessAndLessOften) {
  open();
  const auto until_next = [this] {
    const Duration wait = core.next_deadline() - now;
    pass(wait);
    return wait;
  };
  EXPECT_EQ(until_next(), seconds(1));
  take<SendSession>();
  EXPECT_EQ(until_next(), seconds(2));
  take<SendSession>();
  EXPECT_EQ(until_next(), seconds(2));  // 5 s without an answer
  take<Reconnect>();
  give(Connected{});
  take<SendSession>();
  EXPECT_EQ(until_next(), seconds(4));
  take<SendSession>();
  EXPECT_EQ(until_next(), seconds(4));
  take<SendSession>();
  EXPECT_EQ(until_next(), seconds(2));  // 10 s
  take<Reconnect>();
  give(Connected{});
  take<SendSession>();
  accept({});
  for (int beat = 0; beat < 4; ++beat) {
    EXPECT_EQ(until_next(), seconds(1));
    take<SendHeartbeat>();
  }
  EXPECT_EQ(until_next(), seconds(1));
  take<Reconnect>();
}

// All nodes of a large cluster would else dial anew in the same moment.
TEST_F(AgentCore, GivesUpAConnectionAtAMomentOfItsOwn) {
  open();
  hear(SessionAccepted{kSession, seconds(100), wanting({}), seconds(20)});
  const Duration mine = core.next_deadline() - now;
  EXPECT_GE(mine, seconds(60));
  EXPECT_LT(mine, seconds(80));

  Config other = config();
  other.session = SessionId(78);
  Core another(other);
  another.handle(now, Recovered{});
  another.handle(now, Connected{});
  another.handle(now, FromLauncher{SessionAccepted{other.session, seconds(100), {}, seconds(20)}});
  EXPECT_NE(another.next_deadline() - now, mine);
}

TEST_F(AgentCore, OldRevisionsChangeNothing) {
  auto assignment = part(1);
  run(assignment, PartState::prepared);
  hear(Desired{kSession, {0, {}}});
  hear(Desired{kSession, {1, {part(2)}}});
  EXPECT_EQ(core.observed().size(), 1u);
}

TEST_F(AgentCore, ObservedIsSentAgainUntilAcknowledged) {
  auto assignment = part(1);
  open();
  accept({assignment});
  take<StageWorkspace>();
  const auto first = take<SendObserved>().observed;
  EXPECT_EQ(first.sequence, 1u);
  pass(seconds(1));
  take<SendHeartbeat>();
  EXPECT_EQ(take<SendObserved>().observed.sequence, 1u);
  hear(ObservedAck{kSession, 1});
  pass(seconds(1));
  take<SendHeartbeat>();
}

TEST_F(AgentCore, AnAckCoversWhatWasInThatMessageOnly) {
  open();
  accept({part(1), part(2)});
  take<StageWorkspace>();
  take<StageWorkspace>();
  EXPECT_EQ(take<SendObserved>().observed.parts.size(), 2u);
  give(WorkspaceStaged{part(1).attempt, make_error(ErrorCode::io, "disk full")});
  const auto second = take<SendObserved>().observed;
  EXPECT_EQ(second.sequence, 2u);
  EXPECT_EQ(second.parts.size(), 2u);  // all that is unacknowledged
  hear(ObservedAck{kSession, 1});
  pass(seconds(1));
  take<SendHeartbeat>();
  EXPECT_EQ(take<SendObserved>().observed.sequence, 2u);
  hear(ObservedAck{kSession, 2});
  pass(seconds(1));
  EXPECT_EQ(take<SendHeartbeat>().beat.observed_sequence, 2u);
}

TEST_F(AgentCore, NothingIsDoneBeforeTheFirstDesiredState) {
  give(Recovered{{{part(1), FoundPart::Runner::never_started, {}},
                  {part(2, WantedPhase::run), FoundPart::Runner::alive, {}},
                  {part(3), FoundPart::Runner::finished, NodeExitReport{}},
                  {part(4), FoundPart::Runner::gone, {}}}});
  EXPECT_EQ(take<ShipLogs>().attempt, part(2).attempt);
  EXPECT_EQ(take<ShipLogs>().attempt, part(3).attempt);
  EXPECT_EQ(take<CollectOutputs>().assignment.attempt, part(3).attempt);
  EXPECT_EQ(take<ShipLogs>().attempt, part(4).attempt);
  EXPECT_EQ(take<KillRunner>().attempt, part(4).attempt);  // what it may have left
  EXPECT_EQ(take<CollectOutputs>().assignment.attempt, part(4).attempt);
  pass(minutes(60));
  give(Connected{});
  const auto open = take<SendSession>().open;
  EXPECT_EQ(open.desired_revision, 0u);
  ASSERT_EQ(open.parts.size(), 4u);
  EXPECT_EQ(open.parts[2].state, PartState::collecting);
  EXPECT_FALSE(open.parts[2].exit.has_value());
  EXPECT_EQ(open.parts[3].state, PartState::collecting);

  accept({part(1), part(2, WantedPhase::run)});
  EXPECT_EQ(take<StageWorkspace>().assignment.attempt, part(1).attempt);
  EXPECT_EQ(take<UpdateRunner>().assignment.attempt, part(2).attempt);
  EXPECT_EQ(take<RemovePart>().attempt, part(3).attempt);
  EXPECT_EQ(take<RemovePart>().attempt, part(4).attempt);
}

TEST_F(AgentCore, AnUnwantedRunnerIsStoppedThenKilledThenRemoved) {
  auto assignment = part(1, WantedPhase::run);
  assignment.grace = seconds(10);
  run(assignment, PartState::running);
  hear(Desired{kSession, wanting({})});
  const auto told = take<UpdateRunner>().assignment;
  EXPECT_EQ(told.phase, WantedPhase::stop);
  EXPECT_EQ(told.stop_reason, StopReason::superseded);
  EXPECT_EQ(told.grace, seconds(10));
  for (int second = 1; second < 40; ++second) {
    now = now + seconds(1);
    hear(HeartbeatAck{kSession});
    EXPECT_EQ(take<UpdateRunner>().assignment.phase, WantedPhase::stop);  // it does not follow
    take<SendHeartbeat>();
  }
  now = now + seconds(1);
  hear(HeartbeatAck{kSession});
  take<UpdateRunner>();
  EXPECT_EQ(take<KillRunner>().attempt, assignment.attempt);
  take<SendHeartbeat>();
  give(RunnerGone{assignment.attempt});
  take<KillRunner>();
  EXPECT_EQ(take<RemovePart>().attempt, assignment.attempt);
  EXPECT_EQ(observed_and_acked().exit->why, Why(RunnerWasKilled{}));
  give(PartRemoved{assignment.attempt});
  removed_and_acked();
}

TEST_F(AgentCore, WhatTheLauncherGaveUpMeanwhileIsKilledAtTheNextContact) {
  auto assignment = part(1, WantedPhase::run);
  assignment.grace = seconds(10);
  run(assignment, PartState::running);
  give(Connected{});
  take<SendSession>();
  accept({});
  const auto told = take<UpdateRunner>().assignment;
  EXPECT_EQ(told.stop_reason, StopReason::superseded);
  EXPECT_EQ(told.grace, Duration::zero());
}

TEST_F(AgentCore, ARunnerThatFollowsIsNotToldAgain) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  assignment.phase = WantedPhase::stop;
  hear(Desired{kSession, wanting({assignment})});
  take<UpdateRunner>();
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::stopping)});
  observed_and_acked();
  pass(seconds(1));
  take<SendHeartbeat>();
  pass(seconds(1));
  take<SendHeartbeat>();
}

TEST_F(AgentCore, StopWhileStagingStartsNoRunner) {
  auto assignment = part(1);
  open();
  accept({assignment});
  take<StageWorkspace>();
  observed_and_acked();
  assignment.phase = WantedPhase::stop;
  hear(Desired{kSession, wanting({assignment})});
  const auto last = observed_and_acked();  // at once: a big snapshot is not waited for
  EXPECT_EQ(last.state, PartState::finished);
  EXPECT_EQ(last.exit->cause, Cause::canceled);
  hear(Desired{kSession, wanting({})});
  give(WorkspaceStaged{assignment.attempt, {}});
  EXPECT_EQ(take<RemovePart>().attempt, assignment.attempt);
}

TEST_F(AgentCore, BornStopped) {
  open();
  accept({part(1, WantedPhase::stop)});
  EXPECT_EQ(observed_and_acked().exit->cause, Cause::canceled);
}

TEST_F(AgentCore, UnwantedWhileStagingIsRemovedWhenTheStagingIsDone) {
  open();
  accept({part(1)});
  take<StageWorkspace>();
  observed_and_acked();
  hear(Desired{kSession, wanting({})});
  EXPECT_EQ(observed_and_acked().exit->cause, Cause::canceled);
  give(WorkspaceStaged{part(1).attempt, {}});
  take<RemovePart>();
  pass(seconds(1));
  take<SendHeartbeat>();
}

TEST_F(AgentCore, StagingFailureIsTheReason) {
  open();
  accept({part(1)});
  take<StageWorkspace>();
  observed_and_acked();
  give(WorkspaceStaged{part(1).attempt, make_error(ErrorCode::io, "/data: no space left")});
  const auto last = observed_and_acked();
  EXPECT_EQ(last.exit->cause, Cause::workspace_failed);
  EXPECT_EQ(last.exit->why, told("/data: no space left"));
  give(WorkspaceStaged{part(1).attempt, {}});  // doubled
}

TEST_F(AgentCore, WhetherAnotherTryOfStagingCouldSucceedIsTold) {
  open();
  accept({part(1)});
  take<StageWorkspace>();
  observed_and_acked();
  give(WorkspaceStaged{part(1).attempt, make_error(ErrorCode::unsatisfiable, "/no/such/set")});
  const auto last = observed_and_acked();
  EXPECT_TRUE(last.exit->absent) << "on another node";
  EXPECT_FALSE(last.exit->hopeless);
}

TEST_F(AgentCore, RunnerThatCannotStart) {
  open();
  accept({part(1)});
  take<StageWorkspace>();
  observed_and_acked();
  give(WorkspaceStaged{part(1).attempt, {}});
  take<StartRunner>();
  give(RunnerStarted{part(1).attempt, make_error(ErrorCode::io, "fork: no memory")});
  take<KillRunner>();
  EXPECT_EQ(observed_and_acked().exit->cause, Cause::start_failed);
}

TEST_F(AgentCore, APhaseThatMovesWhileTheRunnerStartsIsToldAfterwards) {
  auto assignment = part(1);
  open();
  accept({assignment});
  take<StageWorkspace>();
  observed_and_acked();
  give(WorkspaceStaged{assignment.attempt, {}});
  take<StartRunner>();
  assignment.phase = WantedPhase::stop;
  hear(Desired{kSession, wanting({assignment})});
  give(RunnerStarted{assignment.attempt, {}});
  take<ShipLogs>();
  EXPECT_EQ(take<UpdateRunner>().assignment.phase, WantedPhase::stop);
}

TEST_F(AgentCore, ARunnerThatDiesLeavesNothingAndIsReported) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  give(RunnerGone{assignment.attempt, {{0, 12, 3}}});
  EXPECT_EQ(take<KillRunner>().attempt, assignment.attempt);
  take<CollectOutputs>();
  give(OutputsCollected{assignment.attempt, some_outputs()});
  const auto last = observed_and_acked();
  EXPECT_EQ(last.exit->cause, Cause::runner_lost);
  EXPECT_EQ(last.outputs, some_outputs());
  EXPECT_EQ(last.exit->logs, (std::vector<LogSize>{{0, 12, 3}}));  // they are still collected
  give(RunnerGone{assignment.attempt});
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::running)});
}

TEST_F(AgentCore, ARunnerMetDuringStagingIsAttachedAndNotStartedTwice) {
  auto assignment = part(1);
  open({{assignment, FoundPart::Runner::never_started, {}}});
  accept({assignment});
  take<StageWorkspace>();
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::prepared)});
  take<ShipLogs>();
  observed_and_acked();
  give(WorkspaceStaged{assignment.attempt, {}});
}

TEST_F(AgentCore, ReportsOnlyMoveForward) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::prepared)});
  EXPECT_EQ(core.observed().at(0).state, PartState::running);
}

TEST_F(AgentCore, ProgressTravelsAtTheNextBeat) {
  open();
  accept({part(1)});
  take<StageWorkspace>();
  observed_and_acked();
  now = now + seconds(1);
  hear(HeartbeatAck{kSession});
  take<SendHeartbeat>();
  give(StagingProgress{part(1).attempt, "fetching 1 of 3 MiB"});
  give(StagingProgress{part(1).attempt, "fetching 2 of 3 MiB"});
  pass(seconds(1));
  take<SendHeartbeat>();
  EXPECT_EQ(observed_and_acked().progress, "fetching 2 of 3 MiB");
}

// What such a rank was writing is not what it wanted to write.
TEST_F(AgentCore, WhenRanksWereKilledIsKnownToTheCollection) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  PartReport report = in_state(assignment, PartState::finished);
  report.exit->ranks.resize(4);
  for (int i = 0; i < 4; ++i) report.exit->ranks[static_cast<std::size_t>(i)].time = {i + 1};
  report.exit->ranks[1].exit_code = 3;
  report.exit->ranks[2].signal = SIGKILL;
  report.exit->ranks[3].exit_code = 137;
  report.exit->ranks[3].cause = Cause::out_of_memory;
  give(RunnerReported{assignment.attempt, report});
  EXPECT_EQ(take<CollectOutputs>().killed, (std::vector<Instant>{{3}, {4}}));
  EXPECT_EQ(core.observed().at(0).ended.size(), 4u) << "they are shown while that goes on";
  give(OutputsCollected{assignment.attempt});
  EXPECT_TRUE(observed_and_acked().ended.empty()) << "its exit has them";
}

TEST_F(AgentCore, ARunnerThatDiedTookItsRanksAlong) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  give(RunnerGone{assignment.attempt});
  take<KillRunner>();
  EXPECT_EQ(take<CollectOutputs>().killed, std::vector<Instant>{now});
}

TEST_F(AgentCore, APartIsNotFinishedBeforeWhatItLeftIsCollected) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  take<CollectOutputs>();
  EXPECT_EQ(core.observed().at(0).state, PartState::running);  // nothing may be there to collect
  give(OutputsProgress{assignment.attempt, "collecting ./outputs"});
  const auto at_work = observed_and_acked();
  EXPECT_EQ(at_work.state, PartState::collecting);
  EXPECT_EQ(at_work.progress, "collecting ./outputs");
  EXPECT_FALSE(at_work.exit.has_value());
  // Neither a late word of its runner nor a cancel changes that.
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  give(RunnerGone{assignment.attempt});
  assignment.phase = WantedPhase::stop;
  hear(Desired{kSession, wanting({assignment})});
  EXPECT_EQ(core.observed().at(0).state, PartState::collecting);
  give(OutputsCollected{assignment.attempt, some_outputs()});
  const auto last = observed_and_acked();
  EXPECT_EQ(last.state, PartState::finished);
  EXPECT_EQ(last.progress, "");
  EXPECT_EQ(last.outputs, some_outputs());
  give(OutputsCollected{assignment.attempt});  // late
  give(OutputsProgress{assignment.attempt, "late"});
}

TEST_F(AgentCore, WhenItsRanksStartedIsToldByWhoeverFindsThem) {
  auto assignment = part(1, WantedPhase::run);
  FoundPart gone{assignment, FoundPart::Runner::gone, {}};
  gone.started = Instant{7};
  open({gone});
  accept({assignment});
  give(OutputsCollected{assignment.attempt});
  const auto told = observed_and_acked();
  EXPECT_EQ(told.started, Instant{7});
  EXPECT_EQ(told.exit->started, Instant{7});
}

TEST_F(AgentCore, WhenItsRanksStartedIsToldOfARunnerThatNeverSaidIt) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::prepared);
  RunnerGone gone{assignment.attempt};
  gone.started = Instant{7};
  give(gone);
  take<KillRunner>();
  take<CollectOutputs>();
  give(OutputsCollected{assignment.attempt});
  EXPECT_EQ(observed_and_acked().started, Instant{7});
}

TEST_F(AgentCore, WhatAPartThatRunsHasWrittenIsLookedAtNowAndThen) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  const auto beat = [&](bool looks) {
    now = now + seconds(1);
    hear(HeartbeatAck{kSession});
    if (looks) {
      EXPECT_EQ(take<CaptureFolders>().assignment, assignment);
    }
    take<SendHeartbeat>();
  };
  for (int second = 1; second < 10; ++second) beat(false);
  beat(true);
  give(FolderCaptured{assignment.attempt, some_outputs()[0]});
  beat(false);
  const auto told = observed_and_acked();
  EXPECT_EQ(told.state, PartState::running);
  EXPECT_EQ(told.outputs, some_outputs());
  // A word of its runner does not take them away; its end does.
  auto said = in_state(assignment, PartState::running);
  said.progress = "the disk is full";
  give(RunnerReported{assignment.attempt, said});
  EXPECT_EQ(observed_and_acked().outputs, some_outputs());
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  take<CollectOutputs>();
  give(FolderCaptured{assignment.attempt, some_outputs()[0]});  // late
  give(OutputsCollected{assignment.attempt});
  EXPECT_TRUE(observed_and_acked().outputs.empty());
}

TEST_F(AgentCore, WhatNobodyWantsAnyMoreIsRemovedWhileItIsCollected) {
  auto assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  take<CollectOutputs>();
  hear(Desired{kSession, wanting({})});
  EXPECT_EQ(take<RemovePart>().attempt, assignment.attempt);
  give(OutputsCollected{assignment.attempt, some_outputs()});  // it crossed the removal
  give(PartRemoved{assignment.attempt});
  EXPECT_EQ(removed_and_acked(), assignment.attempt);
}

TEST_F(AgentCore, AnotherNetworkIsToldByAFullReportOfTheSameSession) {
  give(Recovered{});
  give(InventoryChanged{});
  nothing_more();  // the first session will tell it
  give(Connected{});
  take<SendSession>();
  accept({});
  give(InventoryChanged{});
  EXPECT_EQ(take<SendSession>().open.session, kSession);
  give(InventoryChanged{});  // again, before the launcher has answered
  take<SendSession>();
  hear(SessionAccepted{kSession, seconds(1), {revision, {}}});
  nothing_more();
  pass(seconds(1));
  take<SendHeartbeat>();
}

TEST_F(AgentCore, RemovalIsAskedForAgain) {
  open({{part(1), FoundPart::Runner::finished, NodeExitReport{}}});
  accept({});
  take<RemovePart>();
  give(Connected{});
  take<SendSession>();
  now = now + seconds(5);
  hear(HeartbeatAck{kSession});
  take<RemovePart>();
  take<SendSession>();
}

}  // namespace
}  // namespace lockstep::agent
