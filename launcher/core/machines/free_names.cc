#include "launcher/core/machines/free_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "launcher/core/placement/host_labels.h"

namespace lockstep::launcher {

std::optional<std::string> NewNames::next() {
  if (compute_.spec.source != NodeSource::ssh) return fmt::format("{}-{}", target_, ++last_);
  for (const bool is_asked_for : {true, false})
    if (auto name = next_host(is_asked_for)) return name;
  return std::nullopt;
}

// The next free host of the target. Hosts that failed most recently are tried last.
std::optional<std::string> NewNames::next_host(bool is_asked_for) {
  const auto& hosts = compute_.spec.hosts;
  const auto& avoided = compute_.avoided;
  for (const SshHost& host : hosts)
    if (std::find(avoided.begin(), avoided.end(), host.name) == avoided.end() &&
        asked_for(host) == is_asked_for && take(host.name))
      return host.name;
  for (const std::string& name : avoided)
    for (const SshHost& host : hosts)
      if (host.name == name && asked_for(host) == is_asked_for && take(name)) return name;
  return std::nullopt;
}

bool NewNames::asked_for(const SshHost& host) const {
  return std::any_of(shapes_.begin(), shapes_.end(), [&](const Shape& shape) {
    return (!shape.labels.empty() || !shape.names.empty()) && is_suited(compute_, host, shape);
  });
}

bool NewNames::take(const std::string& name) {
  return compute_.machines.count(name) == 0 && used_.insert(name).second;
}

}  // namespace lockstep::launcher
