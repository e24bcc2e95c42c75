#pragma once
// What a node's words and its silence mean: ALIVE, UNKNOWN, LOST; and that a lost node's parts are
// fenced.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void heard(Context& core, NodeId node);
void arm_node_timer(Context& core, NodeId node);
void node_silent(Context& core, NodeId node);  // its timer fired
// Gives up all parts that are assigned there.
void fence(Context& core, NodeId node, const std::string& reason);

}  // namespace lockstep::launcher
