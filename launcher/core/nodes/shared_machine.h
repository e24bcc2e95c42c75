#pragma once
// Prevents that the same resources of a machine are offered twice. An agent that joins from a
// machine that has a node already is refused, unless its node is declared to be a part of the
// machine. The offers of the parts must fit into the machine: a node that offers too much gets no
// work. The node that claimed the machine first has precedence. docs/decisions/068.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Records the machine that the node's agent names. It is not stored: each session names it again.
void note_machine(Context& core, NodeId node, const MachinePart& machine);
// Tells that the node's inventory has changed, or that the node was added or removed.
void machine_changed(Context& core, NodeId node);

}  // namespace lockstep::launcher
