#pragma once
// What activating a conda prefix gives, found out once: conda's own variables, those that packages
// have in etc/conda/env_vars.d and conda-meta/state, and what the scripts of etc/conda/activate.d
// make of them, in a shell that sees nothing of what is around. As conda's "activate" does it.

#include <map>
#include <string>

#include "common/domain/environment.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

// Path entries and variables alone. `given` counts above those of packages, and scripts see it.
Result<Activation> activate_conda(Toolbox& tools, const std::string& prefix,
                                  const std::string& scratch,
                                  const std::map<std::string, std::string>& given);

}  // namespace lockstep::envs
