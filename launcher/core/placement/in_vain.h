#pragma once
// Whether a job waits in vain. It does if no set of nodes of its target could ever run it, even if
// all were free, healthy and approved, and the target makes no other nodes; or if the target has
// had no node for minutes. Pure.

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/domain/why/why.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// Returns NobodyJoins, or NodesNeverFit with what would change that, for a request that the pool's
// nodes cannot take now. None: waiting may help.
Why in_vain(const Cluster& cluster, const std::string& pool, const Shape& shape);

// The error for target local while the number of its nodes is fixed, even before all of them have
// joined: unsatisfiable. LOST nodes do not count.
std::optional<Error> beyond_fixed_nodes(const Cluster& cluster, const Shape& shape);

// True if the pool may get nodes without a person's help: its provider makes machines, or a machine
// that is to become a node has not joined yet.
bool may_grow(const Cluster& cluster, const std::string& pool);

// True if the node could take a part if it were free, healthy and approved. True also for a node
// that has not reported yet.
bool could_take(const State& state, const Node& node, const Shape& shape);

}  // namespace lockstep::launcher
