// The machine will be taken away: the launcher is told, and the agent ends when nothing is left.
#include "tests/unit/agent/core/fixture.h"

namespace lockstep::agent {
namespace {

class AgentTaken : public AgentCore {};

TEST_F(AgentTaken, TellsTheLauncherAtOnceAndStays) {
  open();
  accept({});
  give(MachineTaken{seconds(30), "spot", false});
  const Heartbeat beat = take<SendHeartbeat>().beat;
  EXPECT_EQ(beat.notice, (PreemptionNotice{seconds(30), "spot"}));
  hear(HeartbeatAck{kSession, beat.number, revision});
  now = now + milliseconds(100);
  give(Connected{});
  EXPECT_EQ(take<SendSession>().open.notice, (PreemptionNotice{milliseconds(29'900), "spot"}));
}

TEST_F(AgentTaken, LeavesWhenTheLauncherKnowsAndNothingIsLeft) {
  open();
  accept({});
  give(MachineTaken{seconds(30), "SIGTERM", true});
  const Heartbeat beat = take<SendHeartbeat>().beat;
  nothing_more();
  hear(HeartbeatAck{kSession, beat.number, revision + 1});
  nothing_more();  // something is wanted here of which it has not heard
  hear(HeartbeatAck{kSession, beat.number, revision});
  take<LeaveMachine>();
}

TEST_F(AgentTaken, StaysWithItsPartsUntilTheTimeIsOver) {
  const Assignment assignment = part(1, WantedPhase::run);
  run(assignment, PartState::running);
  give(MachineTaken{milliseconds(500), "SIGTERM", true});
  const Heartbeat beat = take<SendHeartbeat>().beat;
  hear(HeartbeatAck{kSession, beat.number, revision});
  nothing_more();
  EXPECT_LE(core.next_deadline(), now + milliseconds(500));
  pass(milliseconds(500));
  take<LeaveMachine>();
}

TEST_F(AgentTaken, WaitsOnlyForAMomentWhereNothingRuns) {
  open();
  accept({});
  give(MachineTaken{seconds(30), "SIGTERM", true});
  take<SendHeartbeat>();
  EXPECT_LE(core.next_deadline(), now + seconds(1));
  pass(seconds(1));
  take<SendHeartbeat>();
  take<LeaveMachine>();
}

TEST_F(AgentTaken, LeavesAtOnceWithoutALauncher) {
  give(Recovered{});
  give(MachineTaken{seconds(30), "SIGTERM", true});
  take<LeaveMachine>();
}

}  // namespace
}  // namespace lockstep::agent
