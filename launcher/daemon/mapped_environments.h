#pragma once
// Environments by name, with the operator's map behind those that are registered: what is
// registered counts first. The map is read anew for each question that needs it, so that a change
// counts at once.

#include <string>

#include "common/domain/client_messages.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

// The answer to ShowEnvironment: EnvironmentReply or Refused. What is nowhere is refused with the
// line that would add it to the map at `map_path`.
ClientReply with_map(const State& state, const std::string& map_path, const std::string& reference);

}  // namespace lockstep::launcher
