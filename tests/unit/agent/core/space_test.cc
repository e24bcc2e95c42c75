// What finds no space on the launcher: waited for, and given up after a cancel.

#include "tests/unit/agent/core/fixture.h"

namespace lockstep::agent {
namespace {

// The launcher has no space for what its ranks left, and says so.
class WithoutSpace : public AgentCore {
 protected:
  void SetUp() override {
    assignment = part(1, WantedPhase::run);
    run(assignment, PartState::running);
    give(RunnerReported{assignment.attempt, in_state(assignment, PartState::finished)});
    take<CollectOutputs>();
    give(OutputsProgress{assignment.attempt, "the disk is full", true});
    EXPECT_EQ(observed_and_acked().progress, "the disk is full");
  }
  void stop(StopReason reason) {
    assignment.phase = WantedPhase::stop;
    assignment.stop_reason = reason;
    hear(Desired{kSession, wanting({assignment})});
  }
  // Told with the beat of the next second.
  void say(const std::string& text, bool no_space) {
    give(OutputsProgress{assignment.attempt, text, no_space});
    now = now + seconds(1);
    hear(HeartbeatAck{kSession});
    take<SendHeartbeat>();
    EXPECT_EQ(observed_and_acked().progress, text);
  }
  // True when nothing more is waited for, at the end of one of so many seconds.
  bool settles_within(int beats) {
    bool settles = false;
    for (; beats > 0 && !settles; --beats) {
      now = now + seconds(1);
      hear(HeartbeatAck{kSession});
      settles = !actions.empty() && std::holds_alternative<SettleOutputs>(actions.front());
      if (settles) {
        EXPECT_EQ(take<SettleOutputs>().attempt, assignment.attempt);
      }
      take<SendHeartbeat>();
    }
    return settles;
  }
  Assignment assignment;
};

TEST_F(WithoutSpace, WhatACanceledJobLeftIsGivenUpAfterHalfAMinute) {
  EXPECT_FALSE(settles_within(120));  // nobody canceled it
  stop(StopReason::canceled);
  EXPECT_EQ(core.next_deadline(), now + seconds(1));
  EXPECT_FALSE(settles_within(29));
  EXPECT_TRUE(settles_within(1));
  EXPECT_FALSE(settles_within(40));  // once
  CollectedOutput lost;
  lost.problems = {"was not kept"};
  give(OutputsCollected{assignment.attempt, {lost}});
  const auto last = observed_and_acked();
  EXPECT_EQ(last.state, PartState::finished);
  EXPECT_EQ(last.outputs, (std::vector<CollectedOutput>{lost}));
}

TEST_F(WithoutSpace, SpaceInBetweenIsWorthAnotherHalfMinute) {
  stop(StopReason::canceled);
  EXPECT_FALSE(settles_within(29));
  say("collecting ./outputs", false);
  EXPECT_FALSE(settles_within(60));
  say("the disk is full", true);
  EXPECT_FALSE(settles_within(28));
  EXPECT_TRUE(settles_within(1));
}

TEST_F(WithoutSpace, ACancelIsHeardAfterAFailureOfTheGang) {
  stop(StopReason::gang_failed);
  EXPECT_FALSE(settles_within(60));
  stop(StopReason::canceled);
  EXPECT_FALSE(settles_within(29));
  EXPECT_TRUE(settles_within(1));
}

}  // namespace
}  // namespace lockstep::agent
