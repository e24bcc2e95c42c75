#pragma once
// Drives the agent core through inputs alone; a test must consume every action.

#include "agent/core/core.h"

#include <gtest/gtest.h>

#include <deque>

namespace lockstep::agent {
inline const SessionId kSession{77};

inline Config config() {
  Config c;
  c.node = NodeId(1);
  c.boot = BootId("boot");
  c.session = kSession;
  c.look_every = seconds(10);  // so that few tests meet a look
  return c;
}

inline Assignment part(std::uint32_t attempt, WantedPhase phase = WantedPhase::prepare) {
  Assignment assignment;
  assignment.attempt = {JobId("job"), attempt};
  assignment.phase = phase;
  return assignment;
}

inline PartReport in_state(const Assignment& assignment, PartState state) {
  PartReport report;
  report.attempt = assignment.attempt;
  report.state = state;
  if (state == PartState::finished) report.exit = NodeExitReport{};
  return report;
}

inline std::vector<CollectedOutput> some_outputs() {
  CollectedOutput outputs;
  outputs.tree = sha256("tree");
  outputs.files = 3;
  return {outputs};
}

class AgentCore : public ::testing::Test {
 protected:
  void TearDown() override { nothing_more(); }

  void give(const Input& input) {
    nothing_more();
    for (auto& action : core.handle(now, input)) actions.push_back(std::move(action));
  }
  void hear(AgentReply message) { give(FromLauncher{std::move(message)}); }
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

  DesiredState wanting(std::vector<Assignment> assignments) {
    return {++revision, std::move(assignments)};
  }
  void open(std::vector<FoundPart> found = {}) {
    give(Recovered{std::move(found)});
    while (!actions.empty()) actions.pop_front();  // the tests of recovery check these
    give(Connected{});
    take<SendSession>();
  }
  void accept(std::vector<Assignment> assignments) {
    hear(SessionAccepted{kSession, seconds(1), wanting(std::move(assignments))});
  }
  // Consumes one Observed with one part, and acknowledges it.
  PartReport observed_and_acked() {
    const auto observed = take<SendObserved>().observed;
    EXPECT_EQ(observed.parts.size(), 1u);
    hear(ObservedAck{kSession, observed.sequence});
    return observed.parts.empty() ? PartReport{} : observed.parts[0];
  }
  AttemptId removed_and_acked() {
    const auto observed = take<SendObserved>().observed;
    EXPECT_EQ(observed.removed.size(), 1u);
    hear(ObservedAck{kSession, observed.sequence});
    return observed.removed.empty() ? AttemptId{} : observed.removed[0];
  }

  // A part whose runner lives and reports `state`.
  void run(const Assignment& assignment, PartState state) {
    open();
    accept({assignment});
    EXPECT_EQ(take<StageWorkspace>().assignment, assignment);
    observed_and_acked();
    give(WorkspaceStaged{assignment.attempt, {}});
    EXPECT_EQ(take<StartRunner>().assignment, assignment);
    give(RunnerStarted{assignment.attempt, {}});
    EXPECT_EQ(take<ShipLogs>().attempt, assignment.attempt);
    give(RunnerReported{assignment.attempt, in_state(assignment, state)});
    EXPECT_EQ(observed_and_acked().state, state);
  }

  Core core{config()};
  Instant now{1'000'000'000};
  std::deque<Action> actions;
  std::uint64_t revision = 0;
};

}  // namespace lockstep::agent
