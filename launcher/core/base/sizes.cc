#include "launcher/core/base/sizes.h"

namespace lockstep::launcher {

const Size* size_called(const State& state, const CoreConfig& config, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const Size* own = state.sizes().find(name)) return own;
  const auto found = config.catalogue.sizes.find(size_key(name));
  return found == config.catalogue.sizes.end() ? nullptr : &found->second;
}

std::vector<std::string> targets_of_size(const State& state, const std::string& name) {
  std::vector<std::string> targets;
  for (const auto& [target, compute] : state.computes().all())
    if (!compute.spec.size.empty() && size_key(compute.spec.size) == size_key(name))
      targets.push_back(target);
  return targets;
}

}  // namespace lockstep::launcher
