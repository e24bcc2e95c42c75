#pragma once
// Chooses the backend that solves and installs conda packages on this node.

#include <memory>
#include <string>

#include "envs/conda/conda_backend.h"

namespace lockstep::envs {

// Makes the backend that LOCKSTEP_CONDA_ENGINE of the tools' environment selects. `scratch` is a
// folder to write to. Returns unavailable if this node lacks the backend, which is not the
// definition's fault.
Result<std::unique_ptr<CondaBackend>> make_conda_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch);

}  // namespace lockstep::envs
