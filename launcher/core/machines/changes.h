#pragma once
// Records what happens to one machine: it fails, or it ends. docs/decisions/039-machines.md.

#include <string>

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

inline constexpr Duration kFirstMachineBackoff = seconds(5);
inline constexpr Duration kLongestMachineBackoff = minutes(10);

// The back-off doubles with each failure, from the first to the longest.
Duration backoff_after(int failures);

// Whether a provider reports a running machine before its agent has joined, as our own providers
// do; the launcher then waits for it. For a site's provider, a machine counts as running once it
// was started.
bool joins_later(const ComputeSpec& spec);
// True while a running machine waits for its agent to join.
bool must_still_join(const ComputeSpec& spec, const Machine& machine);

// The failure as a MachineStepFailed.
Why why_failed(const Machine::Failure& failure);
// Records the failure, and when the next call may begin.
void fail_machine(Context& core, const std::string& target, const std::string& name,
                  Machine::Failure failure);
// Ends a machine that does not exist any more, so its node cannot come back.
void end_machine(Context& core, const std::string& target, const std::string& name, Why why);

// Has the providers that can reach an agent tell each agent where the launcher is now, before its
// node is LOST and its parts are given up.
void react(Context& core, const LauncherMovedInput& input);

}  // namespace lockstep::launcher
