#include "launcher/api/checks/compute_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>
#include <vector>

namespace lockstep::launcher {
namespace {

constexpr std::size_t kMaxNames = 20;  // the most hosts or settings that one message names

std::string listed(const std::vector<std::string>& names) {
  if (names.size() <= kMaxNames) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMaxNames, ", "),
                     names.size() - kMaxNames);
}

// Names that only `after` has, that only `before` has, and whose values differ.
struct Differences {
  std::vector<std::string> added, removed, changed;
};
template <typename Value>
Differences differences(const std::map<std::string, Value>& before,
                        const std::map<std::string, Value>& after) {
  Differences found;
  for (const auto& [name, value] : after) {
    const auto known = before.find(name);
    if (known == before.end())
      found.added.push_back(name);
    else if (!(known->second == value))
      found.changed.push_back(name);
  }
  for (const auto& [name, value] : before)
    if (after.count(name) == 0) found.removed.push_back(name);
  return found;
}

std::string hosts_text(const ComputeSpec& before, const ComputeSpec& after) {
  const auto by_name = [](const ComputeSpec& spec) {
    std::map<std::string, SshHost> hosts;
    for (SshHost host : spec.hosts) {
      host.secret_owner.clear();  // only the launcher sets it
      hosts.emplace(host.name, std::move(host));
    }
    return hosts;
  };
  const Differences found = differences(by_name(before), by_name(after));
  std::vector<std::string> parts;
  if (!found.added.empty()) parts.push_back("added " + listed(found.added));
  if (!found.removed.empty()) parts.push_back("removed " + listed(found.removed));
  if (!found.changed.empty()) parts.push_back("changed " + listed(found.changed));
  return parts.empty() ? "" : fmt::format("hosts ({})", fmt::join(parts, "; "));
}

std::string settings_text(const ComputeSpec& before, const ComputeSpec& after) {
  Differences found = differences(before.settings, after.settings);
  std::vector<std::string> names;
  for (auto* some : {&found.added, &found.changed, &found.removed})
    for (const std::string& name : *some)
      names.push_back(fmt::format("lockstep.{}.{}", to_string(after.source), name));
  return listed(names);
}

}  // namespace

std::string changed_keys(const ComputeSpec& before, const ComputeSpec& after) {
  std::vector<std::string> keys;
  const auto add = [&](bool differs, std::string key) {
    if (differs) keys.push_back(std::move(key));
  };
  add(before.type != after.type, "type");
  add(before.source != after.source, "lockstep.node_source");
  add(before.description != after.description, "description");
  add(before.location != after.location, "location");
  add(before.tags != after.tags, "tags");
  add(before.labels != after.labels, "lockstep.labels");
  add(before.size != after.size, "size");
  add(before.scale.tier != after.scale.tier, "tier");
  add(before.scale.min_instances != after.scale.min_instances, "min_instances");
  add(before.scale.max_instances != after.scale.max_instances, "max_instances");
  add(before.scale.idle_time != after.scale.idle_time, "idle_time_before_scale_down");
  add(before.instance.idle_time != after.instance.idle_time, "idle_time_before_shutdown");
  add(before.instance.schedules != after.instance.schedules, "schedules");
  add(before.tunnel != after.tunnel, "lockstep.tunnel");
  for (std::string text : {settings_text(before, after), hosts_text(before, after)})
    if (!text.empty()) keys.push_back(std::move(text));
  return keys.empty() ? "nothing" : fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace lockstep::launcher
