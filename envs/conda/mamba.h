#pragma once
// conda's solving and installing by a program that the operator has on PATH: micromamba, mamba or
// conda, which take the same words. What it fetched is in <cache>/mamba; that each archive has its
// SHA-256 is checked here, since not all of them do.

#include "envs/conda/conda_backend.h"

namespace lockstep::envs {

Result<std::unique_ptr<CondaBackend>> make_mamba_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch,
                                                         const std::string& program);

}  // namespace lockstep::envs
