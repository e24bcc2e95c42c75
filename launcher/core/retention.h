#pragma once
// What is forgotten: jobs that people delete or that are beyond the limits of what is kept, and
// join tokens that are of no use any more.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void react(Context& core, const DeleteInput& input);

// Deletes what is beyond the limits, and says when to look again.
void retain(Context& core);
// For a new job of this name: later than those of deleted ones.
std::uint64_t incarnation_of_new(const State& state, const JobId& job);

}  // namespace lockstep::launcher
