#pragma once
// What a run over the default seeds must cause at least once: every kind of fault, every way a rank
// ends, every fact, and every transition of jobs, parts and liveness. A count of zero means that
// the simulation no longer tests that.

#include <string_view>
#include <vector>

#include "tests/sim/world.h"

namespace lockstep::sim {

// Whether a transition of a job or of liveness is legal; any other is a violation.
bool legal_transition(std::string_view name);
// The required counters that are missing from `counters`.
std::vector<std::string_view> never_met(const Counters& counters);

}  // namespace lockstep::sim
