#pragma once
// Environments as the core sees them: which lock a definition has on each platform, and who solves
// while there is none. See docs/decisions/019-environments.md. Pure; what
// nodes and people make of it is in environment_reports.h and environment_requests.h.

#include <optional>
#include <string>

#include "launcher/core/state.h"

namespace lockstep::launcher {

// Which part solves `definition` for this platform: the live part that asked first; a part that
// failed (`Part::not_solved`) only if no other part of its attempt may. Derived from the state, so
// that the next part takes over when this one ends.
struct Solver {
  AttemptId attempt;
  int node_rank = 0;
  friend bool operator==(const Solver&, const Solver&) = default;
};
std::optional<Solver> solver_of(const State& state, const Digest& definition,
                                const std::string& platform);

// Whether the part was told to solve and failed, for this generation and platform.
bool could_not_solve(const Environment& environment, const Part& part);

// Whether another part of the attempt may solve if this one fails: it has asked for the same lock
// and not failed, or has not asked yet.
bool others_may_solve(const Environment& environment, const Attempt& attempt, const Part& part);

// "; node n2 said before: …": why other parts could not solve what `part` could not in the end. ""
// when it did not fail at that. Bounded.
std::string said_before(const State& state, const Attempt& attempt, const Part& part);

// For a conda definition: the lowest version of each virtual package among these nodes. It is
// recorded with the attempt, so that all its nodes build the same environment even if one of them
// comes back with another driver; the next attempt sees the new driver.
std::vector<std::string> virtual_packages_of(const State& state, const Job& job,
                                             const std::vector<PartPlacement>& parts);

// What the node of this part is told.
EnvironmentPlan plan_of(const State& state, const Job& job, const Attempt& attempt, int node_rank);

}  // namespace lockstep::launcher
