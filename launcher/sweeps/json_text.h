#pragma once
// The values of trials as JSON: what an object of a choice becomes in a command, and what
// documents have.

#include <string>

#include "common/domain/sweep.h"

namespace lockstep::sweeps {

// 3, 0.1, true, "rbf", {"depth": 4}
std::string json_of(const SweepValue& value);

// {"depth": 4, "eta": 0.1}, as Python's json.dumps() writes it.
std::string json_of(const TrialParameters& parameters);

}  // namespace lockstep::sweeps
