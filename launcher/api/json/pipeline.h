#pragma once
// What only pipelines and their steps have, as JSON: the steps under `jobs`, keyed by their names
// as in a job file, and outputs with the files that all nodes wrote.

#include <optional>

#include "common/domain/job/pipeline.h"
#include "common/domain/messages/views.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// An output of a job, or one of a pipeline that is an output of a step.
struct NamedOutput {
  const JobView* job = &none_of<JobView>();
  const OutputSpec* output = nullptr;
  const PipelineOutput* of_step = nullptr;
};
void keys(const NamedOutput& output, See& see);
void keys(const StepView& step, See& see);

// In the pipeline's order; absent: the job is no pipeline, or the view is of a list.
std::optional<Entries<StepView>> steps_of(const JobView& job);
// The outputs of any job by name.
Entries<NamedOutput> outputs_of(const JobView& job);

}  // namespace lockstep::api
