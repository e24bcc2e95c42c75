#pragma once
// Finds an environment by name: first among those that are registered, then in the operator's map;
// and the environments in which jobs with an image run by that map. The map is read again for each
// lookup that needs it, so that a change takes effect at once.

#include <set>
#include <string>

#include "common/domain/client_messages.h"
#include "launcher/core/authority.h"
#include "launcher/core/state.h"
#include "launcher/spec/environment_map.h"

namespace lockstep::launcher {

// The answer to ShowEnvironment: EnvironmentReply or Refused. Looks among the registered
// environments and in the map at `map_path`. If an environment of Azure is in neither, the refusal
// contains the line that would add it to the map.
ClientReply with_map(const State& state, const std::string& map_path, const std::string& reference,
                     const Caller& caller);

// The environments that the map at `map_path` has for these images.
Result<spec::MappedImages> mapped_images(const std::string& map_path,
                                         const std::set<std::string>& images);

}  // namespace lockstep::launcher
