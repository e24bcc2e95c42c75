#pragma once
// Decides from a node's messages and silence whether it is ALIVE, UNKNOWN or LOST, and fences the
// parts of a lost node.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void heard(Context& core, NodeId node);
void arm_node_timer(Context& core, NodeId node);
void node_silent(Context& core, NodeId node);  // called when the node's timer fires
// Gives up all parts that are assigned to the node.
void fence(Context& core, NodeId node, const Why& why);

}  // namespace lockstep::launcher
