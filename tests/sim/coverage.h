#pragma once
// What a run over the default seeds must have met at least once: every kind of fault, every way a
// rank ends, every fact, and every transition of jobs, parts and liveness. A zero means that the
// simulation has gone blind somewhere.

#include <string_view>
#include <vector>

#include "tests/sim/world.h"

namespace lockstep::sim {

// Transitions of jobs and liveness that are possible at all: any other one is a violation.
bool legal_transition(std::string_view name);
// Required counters that `counters` lacks.
std::vector<std::string_view> never_met(const Counters& counters);

}  // namespace lockstep::sim
