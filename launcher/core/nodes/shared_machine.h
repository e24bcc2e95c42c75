#pragma once
// One machine must not be sold twice. An agent that joins from a machine of which another node is
// there is refused, unless its node is said to be a part; and what the parts of a machine offer
// must fit into it: a node that offers too much gets no work, with the reason. The node that
// was there earlier comes first. docs/decisions/068.

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

// The node's agent says on which machine it is. Known until the launcher ends; sessions tell it
// anew.
void note_machine(Context& core, NodeId node, const MachinePart& machine);
// After the node's inventory has changed, or the node has come or gone.
void machine_changed(Context& core, NodeId node);

}  // namespace lockstep::launcher
