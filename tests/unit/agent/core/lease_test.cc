// Parts that may run only while the launcher knows of this node.
#include "common/domain/why/ranks/parts.h"
#include "tests/unit/agent/core/fixture.h"

namespace lockstep::agent {
namespace {

class AgentLease : public AgentCore {
 protected:
  AgentLease() { assignment.lease = seconds(60); }

  Heartbeat beat() { return take<SendHeartbeat>().beat; }
  void answer(const Heartbeat& beat) { answer(beat, revision); }
  void answer(const Heartbeat& beat, std::uint64_t wanted) {
    hear(HeartbeatAck{kSession, beat.number, wanted});
  }
  // Consumes what time brings, and answers nothing.
  void silence(Duration duration) {
    for (const Instant end = now + duration; now < end;) {
      pass(std::min<Duration>(seconds(1), end - now));
      while (!actions.empty() && !std::holds_alternative<KillRunner>(actions.front())) {
        const bool dial = std::holds_alternative<Reconnect>(actions.front());
        actions.pop_front();
        if (!dial) continue;
        for (auto& action : core.handle(now, Connected{})) actions.push_back(std::move(action));
      }
      if (actions.empty()) continue;
      actions.erase(actions.begin() + 1, actions.end());
      return;
    }
  }
  // Staged and started: the heartbeat that the assignment caused was sent at `now`.
  void run_with_lease() {
    open();
    accept({assignment});
    take<StageWorkspace>();
    const Heartbeat first = beat();
    observed_and_acked();
    answer(first);
    give(WorkspaceStaged{assignment.attempt, {}});
    EXPECT_EQ(take<RenewLease>().until, now + seconds(60));
    take<StartRunner>();
    give(RunnerStarted{assignment.attempt, {}});
    take<ShipLogs>();
    give(RunnerReported{assignment.attempt, in_state(assignment, PartState::running)});
    observed_and_acked();
  }

  Assignment assignment = part(1, WantedPhase::run);
};

TEST_F(AgentLease, NothingStartsBeforeTheLauncherHasAnswered) {
  open();
  accept({assignment});
  take<StageWorkspace>();
  const Heartbeat first = beat();
  observed_and_acked();
  give(WorkspaceStaged{assignment.attempt, {}});
  nothing_more();
  const Instant sent = now;
  now = now + milliseconds(300);
  answer(first);
  EXPECT_EQ(take<RenewLease>().until, sent + seconds(60)) << "it counts from the sending";
  take<StartRunner>();
}

TEST_F(AgentLease, OneThatWaitsForItsLeaseCanBeStoppedAndRemoved) {
  open();
  accept({assignment});
  take<StageWorkspace>();
  beat();
  observed_and_acked();
  give(WorkspaceStaged{assignment.attempt, {}});
  assignment.phase = WantedPhase::stop;
  hear(Desired{kSession, wanting({assignment})});
  EXPECT_EQ(observed_and_acked().exit->cause, Cause::canceled);
  hear(Desired{kSession, wanting({})});
  EXPECT_EQ(take<RemovePart>().attempt, assignment.attempt);
}

TEST_F(AgentLease, ItIsRenewedFromWhenTheAnsweredHeartbeatWasSent) {
  run_with_lease();
  for (int i = 0; i < 3; ++i) {
    pass(seconds(1));
    answer(beat());  // too little to trouble the disk
  }
  pass(seconds(1));
  const Instant sent = now;
  const Heartbeat fourth = beat();
  now = now + milliseconds(900);
  answer(fourth);
  EXPECT_EQ(take<RenewLease>().until, sent + seconds(60));
}

TEST_F(AgentLease, AnAnswerOfAnotherDesiredStateRenewsNothing) {
  run_with_lease();
  for (int i = 0; i < 6; ++i) {
    pass(seconds(1));
    answer(beat(), revision + 1);
  }
  pass(seconds(1));
  Heartbeat forged = beat();
  forged.number += 7;
  answer(forged);
}

TEST_F(AgentLease, WithoutAnAnswerItsRanksEndInTime) {
  run_with_lease();
  const Instant last = now;
  silence(seconds(90));
  EXPECT_EQ(take<KillRunner>().attempt, assignment.attempt);
  EXPECT_EQ(now, last + seconds(60));
  give(RunnerGone{assignment.attempt});
  take<KillRunner>();
  take<CollectOutputs>();
  give(OutputsCollected{assignment.attempt});
  const auto report = core.observed().at(0);
  EXPECT_EQ(report.exit->cause, Cause::node_lost);
  EXPECT_EQ(report.exit->why, Why(LeaseRanOut{seconds(60), false}));
}

TEST_F(AgentLease, WithoutALeaseTheyDoNot) {
  assignment.lease = Duration::zero();
  run(assignment, PartState::running);
  silence(minutes(20));
  nothing_more();
}

TEST_F(AgentLease, APartThatIsNotWantedAnyMoreIsNotRenewed) {
  run_with_lease();
  hear(Desired{kSession, wanting({})});
  EXPECT_EQ(take<UpdateRunner>().assignment.phase, WantedPhase::stop);
  pass(seconds(1));
  while (!actions.empty() && !std::holds_alternative<SendHeartbeat>(actions.front()))
    actions.pop_front();
  now = now + seconds(5);
  answer(beat());
  while (!actions.empty()) {
    EXPECT_FALSE(std::holds_alternative<RenewLease>(actions.front()));
    actions.pop_front();
  }
}

TEST_F(AgentLease, ANewAgentFindsTheLeaseOfTheOldOne) {
  FoundPart found;
  found.assignment = assignment;
  found.runner = FoundPart::Runner::alive;
  found.lease_until = now + seconds(7);
  open({found});
  silence(seconds(10));
  EXPECT_EQ(take<KillRunner>().attempt, assignment.attempt);
  EXPECT_EQ(now, found.lease_until);
}

TEST_F(AgentLease, OneThatWasNeverWrittenIsOver) {
  FoundPart found;
  found.assignment = assignment;
  found.runner = FoundPart::Runner::alive;
  give(Recovered{{found}});
  take<ShipLogs>();
  take<KillRunner>();
}

}  // namespace
}  // namespace lockstep::agent
