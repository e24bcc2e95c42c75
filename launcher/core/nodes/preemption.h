#pragma once
// Handles an agent's notice that its machine will be taken away: the node takes no new work, its
// parts are stopped with a grace time, and an elastic target gives the machine back.

#include "common/domain/messages/agent_protocol.h"
#include "common/domain/why/why.h"
#include "launcher/core/base/context.h"

namespace lockstep::launcher {

// Handles a notice; called for each message with one. Repeated notices change nothing. `left`: the
// time until the machine is taken away.
void take_notice(Context& core, NodeId node, Duration left, const Why& why);
void take_notice(Context& core, NodeId node, const PreemptionNotice& notice);

}  // namespace lockstep::launcher
