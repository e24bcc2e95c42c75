#pragma once
// Decides which machines a target must have and which calls of its provider are due.
// docs/decisions/039-machines.md has the rules.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// How often a target's provider lists its machines.
inline constexpr Duration kListEvery = minutes(10);

// Applies the rules to the machines of one target. Facts that change its machines mark the target
// again.
void advance_machines(Context& core, const std::string& target);

}  // namespace lockstep::launcher
