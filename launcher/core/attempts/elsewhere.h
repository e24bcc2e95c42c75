#pragma once
// Jobs that name something of a node, such as a path, which a node did not have. "Not there" is no
// outage: the node is not tried again. Others that could have it are, at most once each. Pure.

#include <optional>

#include "launcher/core/attempts/retry.h"
#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// The next try, on other nodes; nullopt: no other node of its target could have it. It is for a job
// whose last attempt ended for that.
std::optional<Retry> retry_elsewhere(const Cluster& cluster, const Job& job);

// NorOnNodes: where attempts before the last one had looked; none: nowhere.
Why nor_on(const State& state, const Job& job);

}  // namespace lockstep::launcher
