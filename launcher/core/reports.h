#pragma once
// What a node reports of a part: its state, checkpoints, outputs so far, and words for people.

#include "launcher/core/context.h"

namespace lockstep::launcher {

// `newest`: the node said nothing later; else what it says in words only is passed over.
void take_report(Context& core, NodeId node, const PartReport& report, bool newest);

}  // namespace lockstep::launcher
