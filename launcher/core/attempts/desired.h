#pragma once
// Computes a node's desired state from State: one Assignment for each part assigned to it.

#include "launcher/core/base/config.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

DesiredState desired_for(const State& state, const CoreConfig& config, NodeId node);

}  // namespace lockstep::launcher
