#pragma once
// The variables that activating a conda prefix sets, computed once as conda's "activate" does:
// conda's own, those of packages in etc/conda/env_vars.d and conda-meta/state, and changes by the
// scripts of etc/conda/activate.d, which run in a shell with a clean environment.

#include <map>
#include <string>

#include "common/domain/environment.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

// The result has only path entries and variables. `given` takes precedence over packages'
// variables, and scripts see it.
Result<Activation> activate_conda(Toolbox& tools, const std::string& prefix,
                                  const std::string& scratch,
                                  const std::map<std::string, std::string>& given);

}  // namespace lockstep::envs
