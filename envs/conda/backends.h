#pragma once
// Which backend solves and installs conda packages here.

#include <memory>
#include <string>

#include "envs/conda/conda_backend.h"

namespace lockstep::envs {

// The backend that LOCKSTEP_CONDA_ENGINE of the tools' environment selects. `scratch` is a folder
// to write to. unavailable: this node has no such backend, which is not the definition's fault.
Result<std::unique_ptr<CondaBackend>> make_conda_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch);

}  // namespace lockstep::envs
