#pragma once
// Read-only pictures of the launcher's state for people: jobs, nodes, and why a job is where it is.
// Never an input to a decision.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/views.h"
#include "launcher/core/placement.h"
#include "launcher/core/scheduler.h"

namespace lockstep::launcher {

// `queue_position` is counted by the caller, who may show many jobs: 1 = next, 0 = not queued.
JobView view_of(const Cluster& cluster, const Scheduler& scheduler, const Job& job,
                int queue_position);
int queue_position(const State& state, const Job& job);
// Newest first, those submitted before `after` (empty: all), until `take` returns false.
void each_job_view(const Cluster& cluster, const Scheduler& scheduler, const JobId& after,
                   const std::function<bool(const Job&)>& wanted,
                   const std::function<bool(JobView)>& take);
NodeView view_of(const Cluster& cluster, const Node& node);
ExplainView explain(const Cluster& cluster, const Scheduler& scheduler, const Job& job);

}  // namespace lockstep::launcher
