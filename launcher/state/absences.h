#pragma once
// Which nodes did not have what a job names, as its attempts showed.

#include <cstddef>
#include <set>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// The nodes of the attempt that did not have what the job names; empty unless it ended for that.
std::set<NodeId> nodes_without(const Attempt& attempt);
// The same of the job's first `attempts`.
std::set<NodeId> nodes_without(const Job& job, std::size_t attempts);

}  // namespace lockstep::launcher
