#pragma once
// Merges the trees that nodes sent for each output of a job into one tree before the job is final.
// This is needed for steps of pipelines, whose outputs other steps read, and for outputs that are
// registered or written to remotes.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Asks the shell to merge the outputs, unless they are merged or need not be. True: the job has to
// wait for the result.
bool waits_for_merge(Context& core, const Job& job, const ExitReport& report);

// True if another step, or the pipeline itself, uses the ./outputs and ./logs of this step.
bool gives_artifacts(const PipelineSpec& pipeline, const std::string& step);

void react(Context& core, const OutputsMergedInput& input);
// Asks again, some time after the shell could not merge.
void merge_again(Context& core, const JobId& job);

}  // namespace lockstep::launcher
