#pragma once
// One step of the core: the reaction to an input, then the due timers, then the rules until none
// applies any more, then messages. The rules depend only on the state (progress.h), not on the
// input that caused it. So a launcher that restarts from a journal cut between two facts continues
// as if nothing had happened.

#include <vector>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// handles an input, see Core
Step handle(Context& core, Instant now, const Input& input, bool more);
// Begins after a recovery; called after the last fact of a journal was replayed. See Core.
void recovered(Context& core, Instant now);
std::vector<Action> resume(const State& state);
Instant next_deadline(const Context& core);

}  // namespace lockstep::launcher
