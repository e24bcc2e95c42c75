#pragma once
// What follows from an agent's notice that its machine will be taken away: the node takes no new
// work, what runs there is stopped with grace, and a cluster gives the machine back.

#include "common/domain/agent_messages.h"
#include "launcher/core/context.h"

namespace lockstep::launcher {

// To be called with each message that has a notice. Does nothing that was done before.
void take_notice(Context& core, NodeId node, const PreemptionNotice& notice);

}  // namespace lockstep::launcher
