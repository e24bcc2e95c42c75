#pragma once
// Whether a child asks for nodes that its parent, or a job above that, holds while it runs. If such
// a parent waits for its child, neither ever goes on. Pure.

#include <optional>
#include <string>

#include "launcher/core/placement.h"

namespace lockstep::launcher {

// "needs 1 node, and job 'parent' holds so much of target 'local' (n1) that …": while the jobs
// above the child run. Of a pipeline or an array: for its first step of which that holds. nullopt:
// it is no child, or has room beside them, or the target makes nodes.
std::optional<std::string> held_by_parents(const Cluster& cluster, const JobSpec& child);

}  // namespace lockstep::launcher
