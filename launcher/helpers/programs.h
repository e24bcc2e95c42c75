#pragma once
// The texts of the Python programs that the launcher runs, put into it by its build. Run one with
// `python3 -I -c TEXT`.

namespace lockstep::helpers {

// Suggests trials of bayesian sweeps; needs Optuna. What it reads and writes, its head says.
extern const char* const kSuggestProgram;

// Of Optuna, as it is installed for the helper: docs/dependencies.md.
inline constexpr const char* kOptunaRequirement = "optuna==5.0.0";

}  // namespace lockstep::helpers
