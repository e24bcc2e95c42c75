#pragma once
// The steps of a pipeline for people: the state of each step, and the reason for it.

#include <vector>

#include "launcher/core/base/cluster.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

// The views of steps in the pipeline's order; empty if the job is not a pipeline.
std::vector<StepView> step_views(const Cluster& cluster, const Scheduler& scheduler,
                                 const Job& job);

}  // namespace lockstep::launcher
