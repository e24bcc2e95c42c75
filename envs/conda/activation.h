#pragma once
// Computes the activation of a conda prefix once, as conda's "activate" does: conda's own
// variables, those that packages define in etc/conda/env_vars.d and conda-meta/state, and the
// changes by the scripts of etc/conda/activate.d, run in a shell that does not inherit our
// environment.

#include <map>
#include <string>

#include "common/domain/environment/definition.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

// The result has only path entries and variables. `given` overrides the variables of packages, and
// the scripts see it.
Result<Activation> activate_conda(Toolbox& tools, const std::string& prefix,
                                  const std::string& scratch,
                                  const std::map<std::string, std::string>& given);

}  // namespace lockstep::envs
