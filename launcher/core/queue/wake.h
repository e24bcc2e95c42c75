#pragma once
// What makes the queue look again at jobs that wait.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// What the launcher knows of the node beside facts changed, so that it may take work again: jobs
// that wait are looked at, and an elastic target, which counts machines by whether they can.
void usability_changed(Context& core, const Node& node);

}  // namespace lockstep::launcher
