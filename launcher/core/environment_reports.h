#pragma once
// What nodes say of the environments that their parts wait for: that they need a lock, that they
// could not solve it, or the lock.

#include "launcher/core/context.h"

namespace lockstep::launcher {

void take_environment(Context& core, NodeId node, const PartReport& report);

}  // namespace lockstep::launcher
