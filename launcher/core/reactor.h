#pragma once
// One step of the core: the reaction to an input, then the timers that are due, then what follows
// from them, until nothing does; then messages. What follows from the state is decided by rules
// over the state (progress.h), not by the input that led there: a journal cut between two facts
// continues as if nothing had happened.

#include <vector>

#include "launcher/core/context.h"

namespace lockstep::launcher {

Step handle(Context& core, Instant now, const Input& input);
// After the last fact of a journal was replayed. See Core.
void recovered(Context& core, Instant now);
std::vector<Action> resume(const State& state);
Instant next_deadline(const Context& core);

}  // namespace lockstep::launcher
