#pragma once
// Solves and installs conda environments with py-rattler: runs engine/, which is compiled into this
// program, with the Python of rattler_tools.h. Fetched packages are kept in <cache>/conda.

#include "envs/conda/conda_backend.h"

namespace lockstep::envs {

Result<std::unique_ptr<CondaBackend>> make_rattler_backend(Toolbox& tools, const Site& site,
                                                           const std::string& scratch);

}  // namespace lockstep::envs
