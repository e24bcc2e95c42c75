#pragma once
// Finds an environment by name: first among those that are registered, then in the operator's map.
// The map is read again for each lookup that needs it, so that a change takes effect at once.

#include <string>

#include "common/domain/client_messages.h"
#include "launcher/core/state.h"

namespace lockstep::launcher {

// The answer to ShowEnvironment: EnvironmentReply or Refused. Looks among the registered
// environments and in the map at `map_path`. If an environment of Azure is in neither, the refusal
// contains the line that would add it to the map.
ClientReply with_map(const State& state, const std::string& map_path, const std::string& reference);

}  // namespace lockstep::launcher
