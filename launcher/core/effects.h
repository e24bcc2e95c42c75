#pragma once
// Updates everything that a fact changes beside the state: the queue, timers, the health of nodes,
// and the notifications to send. Only for live facts: after a restart, recovered() rebuilds all of
// this from the state.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Must be called after the fact was applied to the state.
void follow(Context& core, const Fact& fact);

}  // namespace lockstep::launcher
