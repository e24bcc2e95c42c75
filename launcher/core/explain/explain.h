#pragma once
// `lockstep job explain`: why a job was placed where it was, or why it waits and what would let it
// start earlier.

#include "common/domain/messages/views.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/queue/scheduler.h"

namespace lockstep::launcher {

ExplainView explain(const Cluster& cluster, const Scheduler& scheduler, const Job& job);

}  // namespace lockstep::launcher
