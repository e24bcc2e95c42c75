#pragma once
// For people: whose outputs a pipeline's step reuses, or why it ran although a job of the same step
// had completed before.

#include <string>
#include <vector>

#include "launcher/core/state.h"

namespace lockstep::launcher {

// Empty if the job is neither a pipeline nor of a step.
std::vector<std::string> explain_reuse(const State& state, const Job& job);

}  // namespace lockstep::launcher
