#pragma once
// Compares the claims of one machine's nodes: whether an agent may join beside them, and whether
// the offer of a node exceeds the rest that the earlier ones leave. The node that claimed the
// machine first has precedence. docs/decisions/068.

#include "common/domain/why/why.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Why the machine may not join as another node; none: it may. `replaced`: the node that the new one
// replaces, or 0.
Why refused_as_second(const Context& core, const MachinePart& machine, NodeId replaced);

// Why the node's offer does not fit beside the offers of earlier nodes; none: it does.
Why oversold(const Context& core, const Node& node);

// Why the node counts as one that claims the machine of another (State::displaced_by); none: it
// does not.
Why claims_anothers(const Context& core, const Node& node);

}  // namespace lockstep::launcher
