#pragma once
// Finds the jobs that wait for machines that an elastic target makes or could make. Pure.

#include <string>

#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// Finds an elastic target; null: it is not elastic, or is being deleted.
const Compute* elastic(const State& state, const std::string& target);

// True if a machine of this target cannot run the job; false if it can, or if that is not known
// yet.
bool unfit(const Cluster& cluster, const std::string& target, const Shape& shape);

// Why the job waits for machines that are being made or could be made; none if more machines would
// not help.
Why waits_for_machines(const Cluster& cluster, const std::string& pool, const Shape& shape);

}  // namespace lockstep::launcher
