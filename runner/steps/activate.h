#pragma once
// Applies a job's environment to its ranks, from the variables that were computed when it was
// built: no shell runs per rank. Variables of the job take precedence over it, and it takes
// precedence over Lockstep's own.

#include <map>
#include <string>
#include <string_view>

#include "common/domain/environment.h"
#include "common/domain/variables.h"

namespace lockstep::runner {

// Adds it to the job's own environment_variables: those that are not among them, and PATH, with the
// activation's folders first, unless the job sets PATH itself.
void activate(const Activation& activation, std::map<std::string, std::string>* variables);

// The same of an image, whose HOME is not that of an ordinary user.
void activate_image(Activation activation, bool ranks_are_root,
                    std::map<std::string, std::string>* variables);

}  // namespace lockstep::runner
