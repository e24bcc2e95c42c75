#pragma once
// What follows from an agent's notice that its machine will be taken away: the node takes no new
// work, what runs there is stopped with grace, and a cluster gives the machine back.

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/why/why.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// To be called with each message that has a notice. Does nothing that was done before. `left`:
// until the machine is taken away.
void take_notice(Context& core, NodeId node, Duration left, const Why& why);
void take_notice(Context& core, NodeId node, const PreemptionNotice& notice);

}  // namespace lockstep::launcher
