#include "envs/conda/conda_backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "envs/conda/mamba.h"
#include "envs/conda/rattler.h"

namespace lockstep::envs {

CondaPlatform conda_platform_of(const std::string& platform) {
  CondaPlatform result;
  std::string_view rest = platform;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (result.subdir.empty())
      result.subdir = word;
    else if (!word.empty())
      result.virtual_packages.emplace_back(word);
  }
  return result;
}

Result<std::vector<std::string>> locked_for(const CondaEnvironment& definition,
                                            const std::string& subdir) {
  for (const std::string& platform : {subdir, std::string()})
    if (const auto found = definition.locked.find(platform); found != definition.locked.end())
      return found->second;
  std::vector<std::string> platforms;
  for (const auto& [platform, packages] : definition.locked) platforms.push_back(platform);
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the conda lock file has no packages for {}, only for {}; lock it "
                                "for this platform too",
                                subdir, fmt::join(platforms, ", ")));
}

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
