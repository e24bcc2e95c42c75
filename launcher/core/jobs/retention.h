#pragma once
// Deletes jobs on request or by the retention limits, and forgets join tokens that can no longer be
// used.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void react(Context& core, const DeleteInput& input);

// Deletes jobs and tokens beyond the limits, and sets when to check again.
void retain(Context& core);
// Deletes, after a start, the jobs of steps whose pipeline had been deleted when the launcher
// ended.
void delete_left_steps(Context& core);
// The incarnation for a new job with this name. It is later than those of all deleted jobs with the
// name.
std::uint64_t incarnation_of_new(const State& state, const JobId& job);

}  // namespace lockstep::launcher
