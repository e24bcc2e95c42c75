#pragma once
// Nodes that lacked something that a job names, as its attempts showed.

#include <cstddef>
#include <set>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// The nodes of the attempt that lacked something that the job names; empty unless the attempt ended
// because of that.
std::set<NodeId> nodes_without(const Attempt& attempt);
// The nodes of all the job's first `attempts` attempts.
std::set<NodeId> nodes_without(const Job& job, std::size_t attempts);

}  // namespace lockstep::launcher
