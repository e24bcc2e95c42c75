#pragma once
// Updates everything that depends on a fact besides the state: the queue, timers, node health, and
// notifications. Only for live facts: at its start, a launcher builds all of this from the state
// (recovered).

#include "launcher/core/context.h"

namespace lockstep::launcher {

// To be called once the state has the fact.
void follow(Context& core, const Fact& fact);

}  // namespace lockstep::launcher
