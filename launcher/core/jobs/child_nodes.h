#pragma once
// Whether a child asks for nodes that its parent, or a job above that, holds while it runs. If such
// a parent waits for its child, neither ever goes on. Pure.

#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// HeldByParent, while the jobs above the child run. Of a pipeline or an array: for its first step
// of which that holds. None: it is no child, or has room beside them, or the target makes nodes.
Why held_by_parents(const Cluster& cluster, const JobSpec& child);

}  // namespace lockstep::launcher
