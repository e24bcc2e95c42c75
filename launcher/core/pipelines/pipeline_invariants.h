#pragma once
// What always holds of a pipeline and its steps.

#include <string>
#include <vector>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// One line for each violation.
std::vector<std::string> check_pipeline(const State& state, const Job& job);
// Whether the job of a step is the one that its pipeline knows, if that is there.
bool is_known_to_pipeline(const State& state, const Job& job);

}  // namespace lockstep::launcher
