#pragma once
// The failures that an attempt's parts report, in the order in which a verdict weighs them. Pure.

#include <optional>
#include <vector>

#include "common/domain/ranks/exit_report.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// One thing that failed by itself. `rank` is absent when a node as a whole failed.
struct Failure {
  Instant time;
  int node_rank = 0;
  const Part* part = nullptr;
  std::optional<RankExit> rank;
  Cause cause = Cause::completed;
  // Why, if another node told it; the node's own report is still on its way.
  std::optional<Why> told = {};
  // Its last words are of a peer that had gone, and that has failed too.
  bool is_secondary = false;
};

// By time; at one time, by node and rank.
bool earlier(const Failure& a, const Failure& b);

// Of those parts that have ended, as their reports have them.
std::vector<Failure> failures_of(const Attempt& attempt, const JobSpec& spec);

// Two that name each other say nothing of which came first.
void mark_secondary(std::vector<Failure>& failures);

inline constexpr int kByTime = 3;  // the precedence of those that only their times order
// Lower comes first, whatever the clocks of the nodes say. Ranks that hang end late, so others that
// miss them may fail before.
int precedence(const Failure& failure);

}  // namespace lockstep::launcher
