#pragma once
// `job resume` of a pipeline or a job array: the steps that it submits.

#include "common/domain/job/pipeline.h"
#include "common/domain/messages/views.h"
#include "launcher/cli/link/connection.h"

namespace lockstep::cli {

// Removes what the job, and each task of an array, waited for: it has ended, failed or is deleted
// by now.
void wait_for_nothing(JobSpec& spec);

// Changes the steps of `job`, which has ended: one that did not complete starts from the checkpoint
// that its job saved. Of an array, only the tasks that did not complete are left; conflict: all
// did.
Result<PipelineSpec> steps_to_resume(Connection& connection, const JobView& job);

}  // namespace lockstep::cli
