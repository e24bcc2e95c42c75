#pragma once
// How a pipeline goes on: which steps begin, which are reused, which can never run, and how it ends
// (docs/decisions/051-pipelines.md).

#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Applied to a pipeline that is not final, whenever something of it changed.
void advance_pipeline(Context& core, const Job& job);

// Which steps it waits for.
Why why_of_steps(const State& state, const Job& job);
// Why a pipeline failed whose steps are all over: the first that failed, or that was not run.
Why why_it_failed(const State& state, const Job& job);

// The steps of a pipeline that run at the same time; further ones wait.
inline constexpr std::size_t kMaxRunningSteps = 1'000;
std::size_t most_running_steps(const PipelineSpec& pipeline);

}  // namespace lockstep::launcher
