#pragma once
// What may happen to one machine, whoever finds it out: it fails, it ends.
// docs/decisions/039-machines.md.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

inline constexpr Duration kFirstMachineBackoff = seconds(5);
inline constexpr Duration kLongestMachineBackoff = minutes(10);

// Doubles with each failure, from the first to the longest back-off.
Duration backoff_after(int failures);

// Our own providers say that a machine runs when its agent has joined; a site's when the machine
// was started.
bool joins_later(const ComputeSpec& spec);
// True while a machine that runs waits for its agent to join.
bool must_still_join(const ComputeSpec& spec, const Machine& machine);

// MachineStepFailed.
Why why_failed(const Machine::Failure& failure);
// Records the failure, and when the next call may begin.
void fail_machine(Context& core, const std::string& target, const std::string& name,
                  Machine::Failure failure);
// The machine is not there any more, so its node cannot come back.
void end_machine(Context& core, const std::string& target, const std::string& name, Why why);

// The providers that can reach an agent tell each where the launcher is now, before its node counts
// as LOST and what runs there is given up.
void react(Context& core, const LauncherMovedInput& input);

}  // namespace lockstep::launcher
