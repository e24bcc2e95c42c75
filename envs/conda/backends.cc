#include "envs/conda/backends.h"

#include <fmt/format.h>

#include "envs/conda/mamba.h"
#include "envs/conda/rattler.h"

namespace lockstep::envs {

Result<std::unique_ptr<CondaBackend>> make_conda_backend(Toolbox& tools, const Site& site,
                                                         const std::string& scratch) {
  const std::string choice = tools.variable("LOCKSTEP_CONDA_ENGINE");
  if (choice.empty() || choice == "rattler") return make_rattler_backend(tools, site, scratch);
  for (const char* program : {"micromamba", "mamba", "conda"})
    if (choice == program) return make_mamba_backend(tools, site, scratch, choice);
  return make_error(ErrorCode::unavailable,
                    fmt::format("LOCKSTEP_CONDA_ENGINE of the agent is '{}', but must be rattler, "
                                "micromamba, mamba or conda",
                                choice));
}

}  // namespace lockstep::envs
