#pragma once
// Finds an environment by name: first among those that are registered, then in the operator's map;
// and the environments in which jobs with an image run by that map. The map is looked at for each
// lookup that needs it, so that a change takes effect at once.

#include <set>
#include <string>

#include "common/domain/messages/client_protocol.h"
#include "launcher/api/ports/operator_files.h"
#include "launcher/core/access/authority.h"
#include "launcher/files/environment/environment_map.h"
#include "launcher/state/state.h"

namespace lockstep::launcher {

// The answer to ShowEnvironment: EnvironmentReply or Refused. Looks among the registered
// environments and in the map. If an environment of Azure is in neither, the refusal
// contains the line that would add it to the map.
ClientReply with_map(const State& state, const OperatorFiles& files, const std::string& reference,
                     const Caller& caller);

// The environments that the map has for these images. Errors are for the one who submits.
Result<spec::MappedImages> mapped_images(const OperatorFiles& files,
                                         const std::set<std::string>& images);

}  // namespace lockstep::launcher
