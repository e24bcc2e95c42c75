#pragma once
// Adds the activation of a job's environment to the ranks' variables. The activation was computed
// when the environment was built, so no shell runs for a rank. The job's own variables override it,
// and it overrides those that Lockstep sets.

#include <map>
#include <string>
#include <string_view>

#include "common/domain/environment/definition.h"
#include "common/domain/environment/variables.h"

namespace lockstep::runner {

// Adds the activation's variables that the job does not set to its environment_variables, and PATH
// with the activation's folders first, unless the job sets PATH itself.
void activate(const Activation& activation, std::map<std::string, std::string>* variables);

// Does the same for an image. The image's HOME is root's, so it is left out unless the ranks are
// root.
void activate_image(Activation activation, bool ranks_are_root,
                    std::map<std::string, std::string>* variables);

}  // namespace lockstep::runner
