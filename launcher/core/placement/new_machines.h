#pragma once
// Predicts a machine that a target does not have yet: its size, and the jobs that it could not run.
// Pure.

#include <string>

#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// The size of the target's machines; null: it has no size, or an unknown one.
const Size* size_of_target(const Cluster& cluster, const std::string& target);

// True if a machine that the target does not have yet could not run the part: because of the
// target's size, because new machines have only the labels of the target and of its hosts, or
// because their names are not known in advance.
bool excludes_new_machines(const Cluster& cluster, const std::string& target, const Shape& shape);

}  // namespace lockstep::launcher
