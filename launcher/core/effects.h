#pragma once
// Updates everything that a fact changes beside the state: the queue, timers, the health of nodes,
// and the notifications to send. Only for live facts: after a restart, recovered() rebuilds all of
// this from the state.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Carries out a fact's effects; called after it was applied to the state.
void follow(Context& core, const Fact& fact);

}  // namespace lockstep::launcher
