#pragma once
// Finds out whether a child asks for nodes that its parent, or a job above that, holds while it
// runs. If such a parent waits for its child, both wait for ever. Pure.

#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// HeldByParent, while the jobs above the child run. For a pipeline or an array: the reason of its
// first such step. None: the job has no parent, fits beside the jobs above it, or its target can
// make more nodes.
Why held_by_parents(const Cluster& cluster, const JobSpec& child);

}  // namespace lockstep::launcher
