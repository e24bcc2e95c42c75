#pragma once
// Looks up sizes, and the targets of a size. A size that an operator defined replaces one of the
// catalogue with the same name.

#include <string>
#include <vector>

#include "launcher/core/base/config.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// Finds a size; null: it does not exist.
const Size* size_called(const State& state, const CoreConfig& config, const std::string& name);
// The targets of this size, by name.
std::vector<std::string> targets_of_size(const State& state, const std::string& name);

}  // namespace lockstep::launcher
