#pragma once
// Tells the queue that waiting jobs must be checked again.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Tells that something beside facts has changed whether the node can take work. Waiting jobs are
// checked again, and so is an elastic target, which counts the machines that can take work.
void usability_changed(Context& core, const Node& node);

}  // namespace lockstep::launcher
