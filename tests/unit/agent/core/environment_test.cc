// An environment between the working directory and the runner.

#include "tests/unit/agent/core/fixture.h"

namespace lockstep::agent {
namespace {

using Step = EnvironmentReport::Step;
using Environments = AgentCore;

Assignment with_environment(WantedPhase phase = WantedPhase::prepare) {
  Assignment assignment = part(1, phase);
  assignment.node_rank = 3;
  assignment.spec.environment.emplace().definition = VenvEnvironment{};
  return assignment;
}

EnvironmentReport at(Step step) {
  EnvironmentReport report;
  report.step = step;
  report.platform = "linux";
  return report;
}

class AgentEnvironments : public AgentCore {
 protected:
  // Staged, and PrepareEnvironment is at work.
  void equip(const Assignment& assignment) {
    open();
    accept({assignment});
    take<StageWorkspace>();
    observed_and_acked();
    give(WorkspaceStaged{assignment.attempt, {}});
    EXPECT_EQ(take<ShipLogs>().attempt, assignment.attempt) << "its log is followed from its start";
    EXPECT_EQ(take<PrepareEnvironment>().assignment, assignment);
  }
  const Assignment job = with_environment();
};

TEST_F(AgentEnvironments, TheRunnerStartsWhenItIsReady) {
  equip(job);
  give(EnvironmentChanged{job.attempt, at(Step::wants_lock)});
  const PartReport asks = observed_and_acked();
  EXPECT_EQ(asks.state, PartState::staging);
  EXPECT_EQ(asks.environment, at(Step::wants_lock));

  give(EnvironmentChanged{job.attempt, at(Step::ready), 70});
  EXPECT_EQ(take<StartRunner>().assignment.attempt, job.attempt);
  give(RunnerStarted{job.attempt, {}});
  take<ShipLogs>();
  give(RunnerReported{job.attempt, in_state(job, PartState::running)});
  EXPECT_EQ(observed_and_acked().environment, at(Step::ready)) << "which no runner knows of";
}

TEST_F(AgentEnvironments, WhatTheLauncherLearnsIsPassedOnWhileItWaits) {
  equip(job);
  give(EnvironmentChanged{job.attempt, at(Step::wants_lock)});
  observed_and_acked();
  Assignment more = job;
  more.environment.locks = {{"linux", sha256("lock")}};
  hear(Desired{kSession, wanting({more})});
  EXPECT_EQ(take<PrepareEnvironment>().assignment, more);
  hear(Desired{kSession, wanting({more})});  // nothing new in it
}

TEST_F(AgentEnvironments, ASolvingThatIsPassedOnDoesNotEndThePart) {
  Assignment solver = job;
  solver.environment.solve = solver.environment.others_may_solve = true;
  equip(solver);
  EnvironmentReport failed = at(Step::not_solved);
  failed.why = told("no network");
  give(EnvironmentChanged{job.attempt, failed, 70});
  const PartReport told = observed_and_acked();
  EXPECT_EQ(told.state, PartState::staging);
  EXPECT_EQ(told.environment, failed);
  // It is asked again, as the last that can.
  solver.environment.others_may_solve = false;
  hear(Desired{kSession, wanting({solver})});
  EXPECT_EQ(take<PrepareEnvironment>().assignment, solver);
}

TEST_F(AgentEnvironments, AFailureEndsThePartWithItsLog) {
  equip(job);
  give(EnvironmentFailed{job.attempt, make_error(ErrorCode::invalid_argument, "no such package"),
                         Cause::environment_failed, 70});
  take<LeaveEnvironment>();
  const PartReport last = observed_and_acked();
  EXPECT_EQ(last.exit->cause, Cause::environment_failed);
  EXPECT_EQ(last.exit->why, told("no such package"));
  EXPECT_EQ(last.exit->logs, (std::vector<LogSize>{{3, 0, 0, 70}}));
}

TEST_F(AgentEnvironments, AJobThatIsStoppedLeavesIt) {
  equip(job);
  Assignment stop = with_environment(WantedPhase::stop);
  hear(Desired{kSession, wanting({stop})});
  EXPECT_EQ(take<LeaveEnvironment>().attempt, job.attempt);
  EXPECT_EQ(observed_and_acked().exit->cause, Cause::canceled);
  give(EnvironmentChanged{job.attempt, at(Step::ready)});  // late
  hear(Desired{kSession, wanting({})});
  take<RemovePart>();
}

TEST_F(AgentEnvironments, ItsProgressIsToldInWords) {
  equip(job);
  give(EnvironmentProgress{job.attempt, "downloading 12/340 MB"});
  now = now + seconds(1);
  for (auto& action : core.handle(now, Tick{})) actions.push_back(std::move(action));
  take<SendHeartbeat>();
  EXPECT_EQ(observed_and_acked().progress, "downloading 12/340 MB");
}

TEST_F(AgentEnvironments, ALogThatAnEarlierAgentWroteIsCounted) {
  FoundPart found;
  found.assignment = job;
  found.runner = FoundPart::Runner::gone;
  found.environment_log_bytes = 70;
  give(Recovered{{found}});
  take<ShipLogs>();
  take<KillRunner>();
  take<CollectOutputs>();
  give(OutputsCollected{job.attempt, {}});
  EXPECT_EQ(core.observed().at(0).exit->logs, (std::vector<LogSize>{{3, 0, 0, 70}}));
}

TEST_F(AgentEnvironments, ALogOfOneThatNeverStartedIsShippedThoughNothingIsStagedAgain) {
  FoundPart found;
  found.assignment = job;
  found.runner = FoundPart::Runner::never_started;
  found.environment_log_bytes = 70;
  give(Recovered{{found}});
  take<ShipLogs>();
}

TEST_F(AgentEnvironments, WhatTheRunnerWroteToItsLogIsCountedOnce) {
  equip(job);
  give(EnvironmentChanged{job.attempt, at(Step::ready), 70});
  take<StartRunner>();
  give(RunnerStarted{job.attempt, {}});
  take<ShipLogs>();
  PartReport last = in_state(job, PartState::finished);
  last.exit.emplace().cause = Cause::environment_failed;
  last.exit->logs = {{3, 0, 0, 170}};
  give(RunnerReported{job.attempt, last});
  take<CollectOutputs>();
  give(OutputsCollected{job.attempt, {}});
  EXPECT_EQ(observed_and_acked().exit->logs, (std::vector<LogSize>{{3, 0, 0, 170}}));
}

TEST_F(AgentEnvironments, PruningIsOrderedOnceForEachOrder) {
  open();
  DesiredState desired = wanting({});
  desired.environments_unused_since = {5};
  hear(SessionAccepted{kSession, seconds(1), desired});
  EXPECT_EQ(take<PruneUnused>().unused_since, Instant{5});
  desired.revision = ++revision;
  hear(Desired{kSession, desired});
  desired.revision = ++revision;
  desired.environments_unused_since = {6};
  hear(Desired{kSession, desired});
  EXPECT_EQ(take<PruneUnused>().unused_since, Instant{6});
}

}  // namespace
}  // namespace lockstep::agent
