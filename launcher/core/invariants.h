#pragma once
// What is true of every State, whatever happened: checked after each step by the tests and the
// simulation. Costs a look at everything; the daemon never calls it.

#include <string>
#include <vector>

#include "launcher/core/state.h"

namespace lockstep::launcher {

// What is violated, in words; empty when all holds.
std::vector<std::string> check_invariants(const State& state);

}  // namespace lockstep::launcher
