#pragma once
// Whether facts fold at all. State takes it for our own mistake when they contradict each other,
// and ends the process; of a stored journal that must be asked first, so a child tries.

#include <optional>
#include <string>
#include <vector>

#include "launcher/core/fact.h"

namespace lockstep::launcher {

// In words at which fact it ended and why; nullopt: all of them fold. The process has one thread.
std::optional<std::string> why_not_folding(const std::vector<StampedFact>& facts);

}  // namespace lockstep::launcher
