#pragma once
// Carries out the order of lockstep-env: it solves, builds, fetches or packs one environment.

#include "envs/order.h"

namespace lockstep::envs {

// Carries out the order in this process. Writes its Events to the descriptor `events`, the result
// last.
void carry_out(const Order& order, int events);

}  // namespace lockstep::envs
