#pragma once
// Machines that end by themselves at a known time: jobs of Slurm with a time limit, and those of
// which another provider says so. What such a machine cannot hold is not placed there, and what it
// cannot finish is stopped in time. docs/decisions/075-machines-that-end.md.

#include <optional>
#include <string>

#include "launcher/core/base/context.h"
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
// Gives notice to the nodes of the target's machines whose time is nearly over.
void leave_ending_machines(Context& core, const std::string& target);
// When that is due next after `now`; Instant::never(): for none of its machines.
Instant next_end(const Compute& compute, Instant now);

}  // namespace lockstep::launcher
