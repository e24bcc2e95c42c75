#pragma once
// Machines that end by themselves at a known time: how long a new one lives, when one ends, and
// what it cannot hold until then. docs/decisions/075-machines-that-end.md. Pure.

#include <optional>

#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// How long a new machine of the target lives; nullopt: it ends at no known time.
std::optional<Duration> lifetime_of_new(const Compute& compute);

// Why the node's machine ends before a part of this shape does; none: it does not, or one of the
// two is not known.
Why ends_before(const Cluster& cluster, const Node& node, const Shape& shape);
// Why a new machine of the target could not hold it either.
Why outlives_machines(const Compute& compute, const std::optional<Duration>& lasts);

// The lifetime of the node's machine, if that has ended or ends about `at`; else zero.
Duration ended_with_machine(const State& state, NodeId node, Instant at);

// A machine is left so long before its end.
Duration notice_before_end(Duration lifetime);

// When that is due next after `now`; Instant::never(): for none of its machines.
Instant next_end(const Compute& compute, Instant now);

}  // namespace lockstep::launcher
