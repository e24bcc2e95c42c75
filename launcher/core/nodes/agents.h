#pragma once
// Reactions to the messages of agents: session openings, heartbeats, and observations.

#include "launcher/core/base/context.h"
#include "launcher/core/base/step.h"

namespace lockstep::launcher {

void react(Context& core, const SessionInput& input);
void react(Context& core, const HeartbeatInput& input);
void react(Context& core, const UnreadInput& input);
void react(Context& core, const ObservedInput& input);

// The implementation of Core::hear.
Heard hear(Context& core, Instant now, const HeartbeatInput& input);

}  // namespace lockstep::launcher
