// What ranks save for later attempts, while they run.
#include "tests/unit/agent/core/fixture.h"

namespace lockstep::agent {
namespace {

CollectedOutput checkpoint(const std::string& what) {
  CollectedOutput output;
  output.kind = OutputKind::checkpoint;
  output.tree = sha256(what);
  return output;
}

class AgentCheckpoint : public AgentCore {
 protected:
  AgentCheckpoint() { assignment.spec.checkpoint.every = seconds(30); }

  // Without demanding that all was consumed before.
  void add(const Input& input) {
    for (auto& action : core.handle(now, input)) actions.push_back(std::move(action));
  }
  void say(AgentReply message) { add(FromLauncher{std::move(message)}); }

  // The captures that are asked for within `duration`; the launcher answers all it hears.
  int captures(Duration duration) {
    int count = 0;
    for (const Instant end = now + duration; now < end;) {
      pass(seconds(1));
      while (!actions.empty()) {
        const Action action = std::move(actions.front());
        actions.pop_front();
        if (const auto* beat = std::get_if<SendHeartbeat>(&action))
          say(HeartbeatAck{kSession, beat->beat.number, revision});
        if (const auto* observed = std::get_if<SendObserved>(&action))
          say(ObservedAck{kSession, observed->observed.sequence});
        if (const auto* capture = std::get_if<CaptureCheckpoint>(&action)) {
          ++count;
          insisted = capture->insist;
          add(CheckpointCaptured{assignment.attempt, {}, busy});
        }
      }
    }
    return count;
  }

  Assignment assignment = part(1, WantedPhase::run);
  bool busy = false;
  bool insisted = false;
};

TEST_F(AgentCheckpoint, ItIsLookedAtAsOftenAsTheJobSays) {
  run(assignment, PartState::running);
  EXPECT_EQ(captures(seconds(29)), 0);
  EXPECT_EQ(captures(seconds(61)), 3);
}

TEST_F(AgentCheckpoint, OnlyAtTheEndWhenTheJobSaysSo) {
  assignment.spec.checkpoint.every = Duration::zero();
  run(assignment, PartState::running);
  EXPECT_EQ(captures(minutes(5)), 0);
}

TEST_F(AgentCheckpoint, WhileItIsWrittenItIsLookedAtSoonAgainAndTakenInTheEnd) {
  run(assignment, PartState::running);
  busy = true;
  EXPECT_EQ(captures(seconds(30)), 1);
  EXPECT_GE(captures(seconds(10)), 8);
  EXPECT_FALSE(insisted);
  captures(seconds(15));
  EXPECT_TRUE(insisted);
  busy = false;
  captures(seconds(2));
  EXPECT_EQ(captures(seconds(20)), 0) << "as often as before";
}

TEST_F(AgentCheckpoint, WhatWasSavedIsToldAndKeptInEachReport) {
  run(assignment, PartState::running);
  EXPECT_EQ(captures(seconds(30)), 1);
  give(CheckpointCaptured{assignment.attempt, checkpoint("one")});
  EXPECT_EQ(observed_and_acked().outputs, std::vector<CollectedOutput>{checkpoint("one")});
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::stopping)});
  EXPECT_EQ(observed_and_acked().outputs, std::vector<CollectedOutput>{checkpoint("one")});
}

TEST_F(AgentCheckpoint, WhatItsRanksBeginWithIsInEachReport) {
  open();
  accept({assignment});
  take<StageWorkspace>();
  observed_and_acked();
  give(WorkspaceStaged{assignment.attempt, {}, checkpoint("joined")});
  take<StartRunner>();
  give(RunnerStarted{assignment.attempt, {}});
  take<ShipLogs>();
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::running)});
  EXPECT_EQ(observed_and_acked().restored, checkpoint("joined"));
  give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
  take<CollectOutputs>();
  give(OutputsCollected{assignment.attempt, some_outputs()});
  EXPECT_EQ(observed_and_acked().restored, checkpoint("joined"));
}

TEST_F(AgentCheckpoint, AnAgentThatStartedAnewStillKnowsThat) {
  FoundPart found;
  found.assignment = assignment;
  found.runner = FoundPart::Runner::alive;
  found.restored = checkpoint("joined");
  open({found});
  EXPECT_EQ(core.observed().at(0).restored, checkpoint("joined"));
}

TEST_F(AgentCheckpoint, AnAccountThatIsMissingIsSaidAsSuch) {
  open();
  accept({assignment});
  take<StageWorkspace>();
  observed_and_acked();
  WorkspaceStaged staged{assignment.attempt, make_error(ErrorCode::not_found, "no user ada")};
  staged.cause = Cause::account_missing;
  give(staged);
  const auto report = observed_and_acked();
  EXPECT_EQ(report.exit->cause, Cause::account_missing);
  EXPECT_EQ(report.exit->why, told("no user ada"));
}

}  // namespace
}  // namespace lockstep::agent
