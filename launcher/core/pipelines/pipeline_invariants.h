#pragma once
// The invariants of a pipeline and its steps.

#include <string>
#include <vector>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// One line for each violation.
std::vector<std::string> check_pipeline(const State& state, const Job& job);
// True if the pipeline of this step's job, if it exists, has this job as the job of the step.
bool is_known_to_pipeline(const State& state, const Job& job);

}  // namespace lockstep::launcher
