#pragma once
// Checks whether facts can be folded to a state. State treats contradicting facts as a bug and
// aborts the process, but a stored journal may have them through damage, so a child process tries.

#include <optional>
#include <string>
#include <vector>

#include "launcher/state/facts/fact.h"

namespace lockstep::launcher {

// Says at which fact folding failed and why; nullopt: all facts fold. It forks, so the process must
// have only one thread.
std::optional<std::string> why_not_folding(const std::vector<StampedFact>& facts);

}  // namespace lockstep::launcher
