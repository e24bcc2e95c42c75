#pragma once
// Decides about environments: which lock a definition has for an account on each platform, and
// which part solves it while it has none. See docs/decisions/019-environments.md. Pure. Reports of
// nodes are handled in environment_reports.h, requests of users in environment_requests.h.

#include <optional>
#include <string>

#include "common/domain/why/jobs/ends.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The part that solves an environment for a platform: of all live parts of the environment's
// account that asked, the first one. A part that failed to solve it (`Part::not_solved`) is chosen
// only if no other part of its attempt may solve. The solver is computed from State and stored
// nowhere: when that part ends, the next one becomes the solver.
struct Solver {
  AttemptId attempt;
  int node_rank = 0;
  friend bool operator==(const Solver&, const Solver&) = default;
};
std::optional<Solver> solver_of(const State& state, const EnvironmentId& id,
                                const std::string& platform);

// True if the part was told to solve the definition that it waits for, and failed. Failures for
// another generation or platform do not count.
bool could_not_solve(const Environment& environment, const Part& part);

// True if another part of the attempt can solve in place of `part` after it failed: one that has
// asked for the same platform and not failed, or that has not asked yet.
bool others_may_solve(const Environment& environment, const Attempt& attempt, const Part& part);

// Adds to the reason of the last failed part why the other parts had failed to solve before. Adds
// nothing if `part` did not fail to solve. The number of added reasons is limited.
void add_said_before(const State& state, const Attempt& attempt, const Part& part,
                     NodeFailed& failed);

// The virtual packages that these nodes report for a conda definition, each with the lowest
// version. They are recorded with the attempt, so that all its nodes build the same environment to
// its end, even if a node comes back with another driver. The next attempt uses the new driver.
std::vector<std::string> virtual_packages_of(const State& state, const Job& job,
                                             const std::vector<PartPlacement>& parts);

// The plan that the node of this part gets.
EnvironmentPlan plan_of(const State& state, const Job& job, const Attempt& attempt, int node_rank);

}  // namespace lockstep::launcher
