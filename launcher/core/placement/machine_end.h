#pragma once
// Machines that end by themselves at a known time: how long a new one lives, when one ends, and
// which parts it cannot run to their end. docs/decisions/075-machines-that-end.md. Pure.

#include <optional>

#include "launcher/core/base/cluster.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

// How long a new machine of the target lives; nullopt: no end is known.
std::optional<Duration> lifetime_of_new(const Compute& compute);

// Why the node's machine ends before a part of this shape would; none: it does not, or one of the
// two times is unknown.
Why ends_before(const Cluster& cluster, const Node& node, const Shape& shape);
// Why a new machine of the target would end too early as well; none: it would not.
Why outlives_machines(const Compute& compute, const std::optional<Duration>& lasts);

// The lifetime of the node's machine, if that ended or will end at about `at`; otherwise zero.
Duration ended_with_machine(const State& state, NodeId node, Instant at);

// How long before the end of a machine its node gets no more work and its parts are stopped.
Duration notice_before_end(Duration lifetime);

// The next time after `now` at which such a notice is due; Instant::never(): for none of the
// machines.
Instant next_end(const Compute& compute, Instant now);

}  // namespace lockstep::launcher
