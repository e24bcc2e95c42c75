#include "envs/conda/conda_backend.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace lockstep::envs
