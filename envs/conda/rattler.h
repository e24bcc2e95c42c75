#pragma once
// conda's solving and installing by py-rattler: runs engine/, which is a part of this program,
// with the Python of rattler_tools.h. Packages that were fetched are in <cache>/conda.

#include "envs/conda/engine.h"

namespace lockstep::envs {

Result<std::unique_ptr<CondaEngine>> make_rattler_engine(Toolbox& tools, const Site& site,
                                                         const std::string& scratch);

}  // namespace lockstep::envs
