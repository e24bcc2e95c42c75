#pragma once
// Machines that end by themselves at a known time: jobs of Slurm with a time limit, and those of
// which another provider says so. What such a machine cannot finish is stopped in time.
// docs/decisions/075-machines-that-end.md.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Gives notice to the nodes of the target's machines whose time is nearly over.
void leave_ending_machines(Context& core, const std::string& target);

}  // namespace lockstep::launcher
