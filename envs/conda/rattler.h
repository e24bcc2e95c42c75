#pragma once
// conda's solving and installing by py-rattler: runs engine/, which is a part of this program,
// with the Python of rattler_tools.h. Packages that were fetched are in <cache>/conda.

#include "envs/conda/conda_backend.h"

namespace lockstep::envs {

Result<std::unique_ptr<CondaBackend>> make_rattler_backend(Toolbox& tools, const Site& site,
                                                           const std::string& scratch);

}  // namespace lockstep::envs
