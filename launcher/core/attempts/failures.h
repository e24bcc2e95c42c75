#pragma once
// The failures that an attempt's parts report, in the order in which a verdict weighs them. Pure.

#include <optional>
#include <vector>

#include "common/domain/ranks/exit_report.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// A failure that was not the consequence of another. `rank` is absent if a node as a whole failed.
struct Failure {
  Instant time;
  int node_rank = 0;
  const Part* part = nullptr;
  std::optional<RankExit> rank;
  Cause cause = Cause::completed;
  // The reason, if another node reported the failure before the node's own report arrived.
  std::optional<Why> told = {};
  // The rank's last output is about a broken connection to a peer, and that peer has failed too.
  bool is_secondary = false;
};

// Orders failures by time; at the same time, by node rank and rank.
bool earlier(const Failure& a, const Failure& b);

// The failures of the parts that have ended, as their reports say.
std::vector<Failure> failures_of(const Attempt& attempt, const JobSpec& spec);

// Marks failures that follow from others. Two failures that name each other are not marked, because
// neither is known to be first.
void mark_secondary(std::vector<Failure>& failures);

inline constexpr int kByTime = 3;  // the precedence of failures that only their times order
// Failures of a lower precedence come first, whatever the clocks of the nodes say. For example,
// ranks that hang end late, and ranks that wait for them may fail before.
int precedence(const Failure& failure);

}  // namespace lockstep::launcher
