#pragma once
// What is submitted when a pipeline or a job array that ended is resumed.

#include "common/domain/pipeline.h"
#include "common/domain/views.h"
#include "launcher/cli/connection.h"

namespace lockstep::cli {

// Changes the steps of `job`, which has ended: one that did not complete starts from the checkpoint
// that its job saved. Of an array, only the tasks that did not complete are left; conflict: all
// did.
Result<PipelineSpec> steps_to_resume(Connection& connection, const JobView& job);

// The tasks that did not complete, without their checkpoints: "3,7%4" of "0-9%4".
Result<PipelineSpec> tasks_to_resume(const JobView& array);

}  // namespace lockstep::cli
