#pragma once
// Solves and installs conda environments with a program on the operator's PATH: micromamba, mamba
// or conda, which accept the same arguments. Fetched archives are kept in <cache>/mamba. This code
// verifies each archive's SHA-256, because not all of these programs do.

#include "envs/conda/conda_backend.h"

namespace lockstep::envs {

Result<std::unique_ptr<CondaBackend>> make_mamba_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch,
                                                         const std::string& program);

}  // namespace lockstep::envs
