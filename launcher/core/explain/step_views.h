#pragma once
// The steps of a pipeline for people: where each one stands, and why.

#include <vector>

#include "launcher/core/base/cluster.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

// In the pipeline's order; empty if the job is no pipeline.
std::vector<StepView> step_views(const Cluster& cluster, const Scheduler& scheduler,
                                 const Job& job);

}  // namespace lockstep::launcher
