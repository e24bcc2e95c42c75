#pragma once
// Machines that end by themselves at a known time: jobs of Slurm with a time limit, and machines
// for which another provider reports an end. Parts that would run longer are stopped in time.
// docs/decisions/075-machines-that-end.md.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Gives notice to the nodes of those machines of the target that will soon end.
void leave_ending_machines(Context& core, const std::string& target);

}  // namespace lockstep::launcher
