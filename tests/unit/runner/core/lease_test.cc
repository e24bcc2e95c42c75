// A part that may run only for so long without a word from an agent that hears the launcher.
#include "tests/unit/runner/core/fixture.h"

namespace lockstep::runner {
namespace {

class RunnerLease : public RunnerCore {
 protected:
  RunnerLease() {
    assignment.lease = seconds(60);
    give(LeaseRenewed{now + seconds(60)});
  }
  // The rank is killed at once, without a SIGTERM that would give it time.
  NodeExitReport killed() {
    take<Report>();  // stopping
    take_signal(SIGTERM);
    take_signal(SIGKILL);
    take<KillEverything>();
    give(RankExited{0, 0, SIGKILL, false});
    return drain_and_end();
  }
  Assignment assignment = part(1, 1);
};

TEST_F(RunnerLease, ItsRanksEndWhenNobodyRenewsIt) {
  const Instant begin = now;
  run_solo(assignment);
  EXPECT_EQ(core.next_deadline(), begin + seconds(60) + kLeaseTimeout);
  pass(seconds(61));
  pass(seconds(1));
  const NodeExitReport report = killed();
  EXPECT_EQ(report.cause, Cause::node_lost);
  EXPECT_EQ(report.why, Why(LeaseRanOut{seconds(60), true}));
  EXPECT_TRUE(report.ranks.at(0).terminated_by_us);
}

TEST_F(RunnerLease, ARenewalMovesIt) {
  run_solo(assignment);
  pass(seconds(50));
  give(LeaseRenewed{now + seconds(60)});
  pass(seconds(61));
  nothing_more();
  pass(seconds(1));
  killed();
}

TEST_F(RunnerLease, AStopThatTakesTooLongIsCutShort) {
  assignment.grace = minutes(10);
  run_solo(assignment);
  pass(seconds(55));
  assignment.phase = WantedPhase::stop;
  give(AssignmentChanged{assignment});
  take<Report>();
  take_signal(SIGTERM);
  pass(seconds(7));
  take_signal(SIGKILL);
  take<KillEverything>();
  give(RankExited{0, 0, SIGKILL, false});
  EXPECT_EQ(drain_and_end().cause, Cause::canceled);
}

TEST_F(RunnerLease, OneThatIsOverBeforeItBeginsStartsNothing) {
  now = now + seconds(100);
  assignment.solo = true;
  assignment.phase = WantedPhase::run;
  for (auto& action : core.handle(now, Begin{assignment})) actions.push_back(std::move(action));
  for (const Action& action : actions) EXPECT_FALSE(std::holds_alternative<StartRank>(action));
  actions.clear();
  for (auto& action : core.handle(now, Endpoint{7000, PublicKey("key"), 6105}))
    EXPECT_FALSE(std::holds_alternative<StartRank>(action));
}

}  // namespace

class WithoutLease : public RunnerCore {};

TEST_F(WithoutLease, TimeDoesNotMatter) {
  run_solo(part(1, 1));
  EXPECT_EQ(core.next_deadline(), Instant::never());
  pass(std::chrono::hours(100));
  nothing_more();
}

}  // namespace lockstep::runner
