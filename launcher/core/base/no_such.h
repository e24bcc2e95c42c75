#pragma once
// Errors for names that do not exist. They list the names that do.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// A not_found error that names the nearest target and all targets, and says how to create a target
// with this name.
Error no_such_compute(const State& state, const std::string& name);

// "local, cpu-cluster and 3 more"
std::string listed(const std::vector<std::string_view>& names);

}  // namespace lockstep::launcher
