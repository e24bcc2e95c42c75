#pragma once
// Advances a pipeline: which steps begin, which are reused, which can never run, and how the
// pipeline ends (docs/decisions/051-pipelines.md). A step may begin when Steps::ready() has it
// (launcher/state/jobs/steps.h).

#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Begins, reuses and skips the steps that are due; called for a pipeline that is not final,
// whenever something about it changed. A step may begin when Steps::ready() has it
// (launcher/state/jobs/steps.h).
void advance_pipeline(Context& core, const Job& job);

// The steps for which the pipeline waits.
Why why_of_steps(const State& state, const Job& job);
// Why the pipeline failed, once all its steps are over: because of the first step that failed or
// was not run.
Why why_it_failed(const State& state, const Job& job);

// The most steps of a pipeline that run at the same time; further ones wait.
inline constexpr std::size_t kMaxRunningSteps = 1'000;
std::size_t most_running_steps(const PipelineSpec& pipeline);

}  // namespace lockstep::launcher
