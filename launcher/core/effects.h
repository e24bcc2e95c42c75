#pragma once
// What a fact changes beside the state: the queue, timers, what is known of nodes' health, and whom
// to tell. Live only: a launcher that starts anew builds all of this from the state (recovered).

#include "launcher/core/context.h"

namespace lockstep::launcher {

// To be called once the state has the fact.
void follow(Context& core, const Fact& fact);

}  // namespace lockstep::launcher
