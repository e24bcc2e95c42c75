#pragma once
// Environments as the core sees them: which lock a definition has on each platform, and who solves
// while there is none. See docs/decisions/019-environments.md. Pure; what
// nodes and people make of it is in environment_reports.h and environment_requests.h.

#include <optional>
#include <string>

#include "launcher/core/state.h"

namespace lockstep::launcher {

// Who solves `definition` for this platform: of all live parts that asked for it, the one that did
// first, and a part that could not (`Part::not_solved`) only when no other part of its attempt may.
// Derived, so that there is nothing to lose: when that part ends, it is the next one.
struct Solver {
  AttemptId attempt;
  int node_rank = 0;
  friend bool operator==(const Solver&, const Solver&) = default;
};
std::optional<Solver> solver_of(const State& state, const Digest& definition,
                                const std::string& platform);

// Whether it was told to solve what it waits for, and failed. What it said of another generation or
// platform does not count.
bool could_not_solve(const Environment& environment, const Part& part);

// Whether a part that was told to solve may pass that on, when it cannot: another part of its
// attempt has asked for the same and not failed at it, or has not asked yet.
bool others_may_solve(const Environment& environment, const Attempt& attempt, const Part& part);

// "; node n2 said before: …": why other parts could not solve what `part` could not in the end. ""
// when it did not fail at that. Bounded.
std::string said_before(const State& state, const Attempt& attempt, const Part& part);

// For a conda definition, of what these nodes say that they have: the lowest version of each. It is
// recorded with the attempt, so that all its nodes build the same to its end, also when one of them
// comes back with another driver; the next attempt sees that.
std::vector<std::string> virtual_packages_of(const State& state, const Job& job,
                                             const std::vector<PartPlacement>& parts);

// What the node of this part is told.
EnvironmentPlan plan_of(const State& state, const Job& job, const Attempt& attempt, int node_rank);

}  // namespace lockstep::launcher
