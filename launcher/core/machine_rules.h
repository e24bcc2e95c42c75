#pragma once
// Decides which machines a target must have and which calls of its provider are due, and takes what
// providers say. docs/decisions/039-machines.md has the rules.

#include <string>

#include "launcher/core/context.h"

namespace lockstep::launcher {

inline constexpr Duration kFirstMachineBackoff = seconds(5);
inline constexpr Duration kLongestMachineBackoff = minutes(10);

// Applies the rules to the machines of one target. Facts that follow make the target dirty again.
void advance_machines(Context& core, const std::string& target);

void react(Context& core, const ProviderTokensInput& input);
void react(Context& core, const ProviderEventInput& input);
void react(Context& core, const ProviderEndedInput& input);

MachineView view_of(const Context& core, const std::string& target, const std::string& name,
                    const Machine& machine);

}  // namespace lockstep::launcher
