#include "launcher/files/targets/cluster_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/time.h"
#include "common/domain/targets/provider_settings.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::array kSources{NodeSource::docker, NodeSource::slurm, NodeSource::kubernetes,
                              NodeSource::command};
constexpr std::array<std::string_view, 5> kKeys{"size", "tier", "min_instances", "max_instances",
                                                "idle_time_before_scale_down"};
constexpr std::string_view kNamespace = "namespace";

const YamlEntry* at(const YamlNode& mapping, std::string_view key) {
  const YamlEntry* entry = mapping.find(key);
  return entry == nullptr || entry->value.kind == Kind::null ? nullptr : entry;
}
const YamlEntry* ours(const YamlNode& root, std::string_view key) {
  const YamlEntry* section = at(root, "lockstep");
  return section == nullptr ? nullptr : at(section->value, key);
}

std::string take_count(const std::string& text, int least, int& into) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least ||
      number > kMaxInstances)
    return fmt::format("'{}' is not a number from {} to {}", text, least, kMaxInstances);
  into = number;
  return "";
}

// Reads a time in seconds, as on Azure, or with a unit.
std::string take_time(const std::string& text, Duration& into) {
  const Duration time = parse_duration(text);
  if (time < Duration::zero() || time > kMaxIdleTime)
    return fmt::format("'{}' is not a time of at most 30 days: seconds, or a time such as 5m",
                       text);
  into = time;
  return "";
}

std::string take_tier(const std::string& text, Tier& into) {
  for (const Tier tier : {Tier::dedicated, Tier::low_priority})
    if (to_string(tier) == text) {
      into = tier;
      return "";
    }
  return fmt::format("'{}' is not a tier; there are dedicated and low_priority", text);
}

bool is_mapping(NodeSource source, const std::string& name) {
  const auto keys = setting_keys(source);
  return std::any_of(keys.begin(), keys.end(), [&](const SettingKey& key) {
    return key.name == name && key.kind == SettingKey::Kind::pairs;
  });
}

class ClusterReader {
 public:
  ClusterReader(const Source& source, const YamlNode& root, Faults& faults)
      : source_(source), root_(root), faults_(faults) {}

  void read(ComputeSpec& spec) {
    for (const std::string_view key : kKeys)
      if (const YamlEntry* entry = at(root_, key)) read_key(*entry, spec);
    if (const YamlEntry* entry = at(root_, kNamespace)) read_namespace(*entry, spec);
    for (const NodeSource source : kSources)
      if (const YamlEntry* section = ours(root_, to_string(source)))
        read_section(*section, source, spec);
  }

 private:
  void fault(const Place& place, const std::string& message) {
    faults_.add(place, source_.error(place, message));
  }

  void read_key(const YamlEntry& entry, ComputeSpec& spec) {
    const bool may_have = is_elastic(spec) && (!is_instance(spec) || entry.key == "size");
    if (!may_have)
      return fault(entry.place,
                   fmt::format("'{}' is of a target of type amlcompute or kubernetes; leave it out",
                               entry.key));
    if (entry.value.kind != Kind::scalar)
      return fault(entry.value.place, fmt::format("'{}' must be a value, not {}", entry.key,
                                                  describe(entry.value.kind)));
    const auto wrong = assign_to_cluster(entry.key, entry.value.text, spec);
    if (wrong && !wrong->empty())
      fault(entry.value.place, fmt::format("'{}': {}", entry.key, *wrong));
  }

  // Reads Azure's key for a setting of Lockstep's.
  void read_namespace(const YamlEntry& entry, ComputeSpec& spec) {
    if (spec.source != NodeSource::kubernetes)
      return fault(entry.place, "'namespace' is of a target whose machines are pods; leave it out");
    read_setting("", entry, spec);
  }

  void read_section(const YamlEntry& section, NodeSource of, ComputeSpec& spec) {
    if (of != spec.source)
      return fault(section.place,
                   fmt::format("'lockstep.{}' is of the node source {}; leave it out here",
                               section.key, to_string(of)));
    if (section.value.kind != Kind::mapping)
      return fault(section.value.place,
                   fmt::format("'lockstep.{}' must be a mapping of keys to values, not {}",
                               section.key, describe(section.value.kind)));
    for (const YamlEntry& entry : section.value.entries) read_setting(section.key, entry, spec);
  }

  void read_setting(const std::string& section, const YamlEntry& entry, ComputeSpec& spec) {
    const std::string path = section.empty() ? fmt::format("'{}'", entry.key)
                                             : fmt::format("'lockstep.{}.{}'", section, entry.key);
    std::vector<std::string> words;
    switch (entry.value.kind) {
      case Kind::null: return;
      case Kind::scalar: words = {entry.value.text}; break;
      case Kind::mapping:
        if (!is_mapping(spec.source, entry.key))
          return fault(entry.value.place, path + " must be a value or a list, not a mapping");
        for (const YamlEntry& pair : entry.value.entries) {
          if (pair.value.kind != Kind::scalar)
            return fault(pair.value.place, path + " must be a mapping of keys to values");
          words.push_back(pair.key + "=" + pair.value.text);
        }
        break;
      case Kind::sequence:
        for (const YamlNode& item : entry.value.items) {
          if (item.kind != Kind::scalar)
            return fault(item.place, path + " must be a list of values");
          words.push_back(item.text);
        }
        break;
    }
    // Whether required settings are missing is checked at the end.
    const Status good = check_setting(spec.source, entry.key, words);
    if (!good) return fault(entry.value.place, good.error().message);
    spec.settings[entry.key] = std::move(words);
  }

  const Source& source_;
  const YamlNode& root_;
  Faults& faults_;
};

}  // namespace

void read_cluster(const Source& source, const YamlNode& root, ComputeSpec& spec, Faults& faults) {
  ClusterReader(source, root, faults).read(spec);
}

NodeSource implied_source(const YamlNode& root) {
  for (const NodeSource source : kSources)
    if (ours(root, to_string(source)) != nullptr) return source;
  return NodeSource::none;
}

std::optional<std::string> assign_to_cluster(std::string_view key, const std::string& text,
                                             ComputeSpec& spec) {
  Scale& scale = spec.scale;
  if (key == kNamespace && spec.source == NodeSource::kubernetes) {
    if (const Status good = check_setting(spec.source, std::string(key), {text}); !good)
      return good.error().message;
    spec.settings[std::string(key)] = {text};
    return "";
  }
  if (key == "size") {
    spec.size = text;
    return "";
  }
  if (key == "tier") return take_tier(text, scale.tier);
  if (key == "min_instances") return take_count(text, 0, scale.min_instances);
  if (key == "max_instances") return take_count(text, 1, scale.max_instances);
  if (key == "idle_time_before_scale_down") return take_time(text, scale.idle_time);
  for (const NodeSource source : kSources) {
    const std::string prefix = fmt::format("lockstep.{}.", to_string(source));
    if (!key.starts_with(prefix)) continue;
    if (spec.source != source)
      return fmt::format("the target's node source is {}", to_string(spec.source));
    const std::string name(key.substr(prefix.size()));
    if (const Status good = check_setting(source, name, {text}); !good) return good.error().message;
    spec.settings[name] = {text};
    return "";
  }
  return std::nullopt;
}

}  // namespace lockstep::spec
