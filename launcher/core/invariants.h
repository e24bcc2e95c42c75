#pragma once
// The invariants of every State, checked after each step by the tests and the simulation. A check
// walks the whole state; the daemon never calls it.

#include <string>
#include <vector>

#include "launcher/state/state.h"

namespace lockstep::launcher {

// Returns the violated invariants as text; empty when all hold.
std::vector<std::string> check_invariants(const State& state);

}  // namespace lockstep::launcher
