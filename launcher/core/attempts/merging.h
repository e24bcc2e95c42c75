#pragma once
// The outputs of a job become one tree each, before the job is final: for the steps of pipelines,
// whose outputs other steps read, and for outputs that are registered or written to remotes.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Asks the shell to merge, if the job's outputs must be and are not. True: the job has to wait for
// that.
bool waits_for_merge(Context& core, const Job& job, const ExitReport& report);

// Whether another step, or the pipeline, has the ./outputs and ./logs of this step.
bool gives_artifacts(const PipelineSpec& pipeline, const std::string& step);

void react(Context& core, const OutputsMergedInput& input);
// Some time after the shell could not merge.
void merge_again(Context& core, const JobId& job);

}  // namespace lockstep::launcher
