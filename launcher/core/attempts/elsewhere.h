#pragma once
// Retries of a job that names something which a node did not have, such as a path. Trying the same
// node again would not help, so each of the other nodes that could have it is tried once. Pure.

#include <optional>

#include "launcher/core/attempts/retry.h"
#include "launcher/core/base/cluster.h"

namespace lockstep::launcher {

// The retry on other nodes, for a job whose last attempt ended because its node lacked something
// that the job names. nullopt: no other node of its target could have it.
std::optional<Retry> retry_elsewhere(const Cluster& cluster, const Job& job);

// NorOnNodes: the nodes of earlier attempts that did not have it either; none: there was no earlier
// attempt.
Why nor_on(const State& state, const Job& job);

}  // namespace lockstep::launcher
