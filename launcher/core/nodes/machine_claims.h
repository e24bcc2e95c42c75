#pragma once
// What the nodes of one machine claim of it, held against each other: whether an agent may join
// beside them, and whether a node offers what another one has. The node that was there earlier
// comes first. docs/decisions/068.

#include "common/domain/why/why.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Why the machine may not join as another node; none: it may. `replaced`: the node that the new
// one takes the place of, or 0.
Why refused_as_second(const Context& core, const MachinePart& machine, NodeId replaced);

// Why the node's offer does not fit beside those of earlier nodes; none: it does.
Why oversold(const Context& core, const Node& node);

// Why the node counts as one that claims another's machine (State::displaced_by); none: it does
// not.
Why claims_anothers(const Context& core, const Node& node);

}  // namespace lockstep::launcher
