#pragma once
// Handles the nodes' reports on the environments that their parts wait for: that a lock is needed,
// that solving failed, or the solved lock.

#include "launcher/core/base/context.h"

namespace lockstep::launcher {

void take_environment(Context& core, NodeId node, const PartReport& report);

}  // namespace lockstep::launcher
