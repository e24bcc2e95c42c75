#pragma once
// Drives a runner core through inputs alone; a test must consume every action.

#include <gtest/gtest.h>

#include <csignal>
#include <deque>

#include "runner/core/core.h"

namespace lockstep::runner {

inline Assignment part(int nodes, int ranks_here,
                       Distribution::Kind kind = Distribution::Kind::none) {
  Assignment assignment;
  assignment.attempt = {JobId("job"), 1};
  assignment.spec.resources.instance_count = nodes;
  assignment.spec.distribution = {kind, ranks_here};
  return assignment;
}

inline GangTable table_of(int nodes) {
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

  // Brings a solo job to the point where its ranks run.
  void run_solo(Assignment assignment) {
    assignment.solo = true;
    assignment.phase = WantedPhase::run;
    GangMember self;
    self.hostname = "here";
    give(Begin{assignment, self});
    EXPECT_EQ(take<LeasePorts>().master_port, has_master_port(assignment.spec.distribution.kind));
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

  // Brings a part of a gang to the point where its ranks run.
  void run_gang(Assignment assignment) {
    give(Begin{assignment});
    EXPECT_EQ(take<LeasePorts>().master_port,
              assignment.node_rank == 0 && has_master_port(assignment.spec.distribution.kind));
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

}  // namespace lockstep::runner
