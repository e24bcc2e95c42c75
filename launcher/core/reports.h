#pragma once
// Handles a node's report on a part: its state, checkpoints, outputs so far, and texts for people.

#include "launcher/core/context.h"

namespace lockstep::launcher {

// `newest` is true if no later report of the node is known. If it is false, texts in the report are
// ignored.
void take_report(Context& core, NodeId node, const PartReport& report, bool newest);

}  // namespace lockstep::launcher
