#pragma once
// Whether a job waits in vain: no set of nodes that its target has could ever run it, not even if
// all were free, healthy and approved, and the target makes no other nodes; or it has had none for
// minutes. Pure.

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/domain/why/why.h"
#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// NobodyJoins, or NodesNeverFit with what changes that: of a request that the pool's nodes cannot
// take now. None: time alone may help.
Why in_vain(const Cluster& cluster, const std::string& pool, const Shape& shape);

// The same of target local while the number of its nodes is fixed, also before they all are there:
// unsatisfiable. LOST nodes do not count.
std::optional<Error> beyond_fixed_nodes(const Cluster& cluster, const Shape& shape);

// Whether nodes may be added to the pool without a person: its provider makes machines, or one that
// is to become a node is not there yet.
bool may_grow(const Cluster& cluster, const std::string& pool);

// Whether the node could take a part if it were free, healthy and approved. True of one that has
// not reported yet.
bool could_take(const State& state, const Node& node, const Shape& shape);

}  // namespace lockstep::launcher
