#include "launcher/state/targets/defined_sizes.h"

namespace lockstep::launcher {

const Size* DefinedSizes::find(const std::string& name) const {
  const auto found = sizes_.find(size_key(name));
  return found == sizes_.end() ? nullptr : &found->second;
}

std::optional<int> DefinedSizes::granted(const std::string& name) const {
  const auto found = grants_.find(size_key(name));
  if (found == grants_.end()) return std::nullopt;
  return found->second;
}

}  // namespace lockstep::launcher
