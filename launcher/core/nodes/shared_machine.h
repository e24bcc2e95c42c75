#pragma once
// One machine must not be sold twice. An agent that joins from a machine of which another node is
// there is refused, unless its node is said to be a part; and what the parts of a machine offer
// must fit into it: a node that offers too much gets no work, with the reason. The node that
// was there earlier comes first. docs/decisions/068.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// The node's agent says on which machine it is. Known until the launcher ends; sessions tell it
// anew.
void note_machine(Context& core, NodeId node, const MachinePart& machine);
// After the node's inventory has changed, or the node has come or gone.
void machine_changed(Context& core, NodeId node);

}  // namespace lockstep::launcher
