#include "launcher/files/environment/environment_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "launcher/files/environment/environment_reader_impl.h"
#include "launcher/files/yaml/faults.h"
#include "launcher/files/yaml/key_notes.h"
#include "launcher/files/yaml/keys.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {

// Refuses conda's keys: in a job file they are in a section of their own, as on Azure.
Status DefinitionReader::refuse_conda() const {
  for (const YamlEntry& entry : mapping_.entries)
    if (entry.key == "channels" || entry.key == "dependencies")
      return error(
          entry.place,
          fmt::format(
              "'{}' is a key of a conda file; put the conda file's keys, or its name, under '{}'",
              shown(entry.key), shown("conda_file")));
  return {};
}

Error DefinitionReader::unknown_key(const YamlEntry& entry) const {
  std::string message = fmt::format("unknown key '{}'", shown(entry.key));
  std::string near = nearest_key(kTable, entry.key);
  const std::string ours = std::string(kTable) + ".";
  const bool is_ours = near.starts_with(ours);
  // A key of a job file is not a useful suggestion for another kind of file.
  if (is_ours) near = shown(near.substr(ours.size()));
  if (!near.empty() && (is_ours || !section_.empty()))
    message += fmt::format("; did you mean '{}'?", near);
  return error(entry.place, message);
}

// Keys that `environment show` prints beside the definition, for people only.
bool DefinitionReader::is_of_show(const YamlEntry& entry) const {
  static constexpr std::array<std::string_view, 10> kInner{
      "created_at", "created_by",  "provider", "definition", "project",
      "owner",      "shared_with", "archived", "locks",      "last_job"};
  const bool is_key = entry.key == "creation_context" || entry.key == "lockstep";
  if (!is_key || !section_.empty() || entry.value.kind != YamlNode::Kind::mapping) return false;
  const auto& inner = entry.value.entries;
  return std::all_of(inner.begin(), inner.end(), [](const YamlEntry& told) {
    return std::find(kInner.begin(), kInner.end(), told.key) != kInner.end();
  });
}

Status DefinitionReader::check_keys() const {
  Faults faults;
  for (const YamlEntry& entry : mapping_.entries) faults.add(entry.place, check_key(entry));
  return faults.status();
}

Status DefinitionReader::check_key(const YamlEntry& entry) const {
  if (is_of_show(entry)) return {};
  const bool dotted = entry.key.find('.') != std::string::npos;
  const KnownKey* key = dotted ? nullptr : find_key(fmt::format("{}.{}", kTable, entry.key));
  if (key == nullptr) return unknown_key(entry);
  if (key->shape != Shape::not_yet) return check_value(entry, key->shape);
  if (is_empty(entry.value)) return {};
  Error refused = not_yet(source_, entry.place, fmt::format("'{}'", shown(entry.key)));
  const std::string_view instead = key->instead.empty() ? note_of(key->path) : key->instead;
  if (!instead.empty()) refused.message.append("; ").append(instead);
  return refused;
}

Status DefinitionReader::check_value(const YamlEntry& entry, Shape shape) const {
  const YamlNode& node = entry.value;
  const std::string name = shown(entry.key);
  if (node.kind == YamlNode::Kind::null) return {};  // a key whose value is commented out
  if (shape == Shape::text_map) {
    if (node.kind != YamlNode::Kind::mapping)
      return error(node.place, fmt::format("'{}' must be a mapping of keys to values, not {}", name,
                                           describe(node.kind)));
    for (const YamlEntry& inner : node.entries)
      if (inner.value.kind != YamlNode::Kind::scalar)
        return error(inner.place, fmt::format("'{}.{}' must be a string, not {}", name, inner.key,
                                              describe(inner.value.kind)));
    return {};
  }
  if (shape == Shape::section) return {};  // the section's reader checks it
  if (shape == Shape::conda_file) {
    if (node.kind == YamlNode::Kind::sequence)
      return error(node.place,
                   fmt::format("'{}' must be a file's name or a mapping, not a list", name));
    if (node.kind == YamlNode::Kind::mapping || !node.text.empty()) return {};
    return error(node.place, fmt::format("'{}' is empty; leave it out", name));
  }
  if (shape == Shape::lines) {
    if (node.kind == YamlNode::Kind::mapping)
      return error(node.place,
                   fmt::format("'{}' must be a file's name or a list, not a mapping", name));
    for (const YamlNode& item : node.items)
      if (item.kind != YamlNode::Kind::scalar)
        return error(item.place, fmt::format("'{}' must be a list of strings; this item is {}",
                                             name, describe(item.kind)));
    return {};
  }
  if (node.kind != YamlNode::Kind::scalar)
    return error(node.place,
                 fmt::format("'{}' must be a string, not {}", name, describe(node.kind)));
  if (node.text.empty() && shape == Shape::text && entry.key != "description")
    return error(node.place, fmt::format("'{}' is empty; leave it out", name));
  return {};
}

Status DefinitionReader::check_schema() const {
  constexpr std::string_view kSuffix = ".schema.json";
  const std::string schema = text("$schema");
  std::string base = schema.substr(schema.rfind('/') + 1);
  if (!base.ends_with(kSuffix)) return {};
  base.resize(base.size() - kSuffix.size());
  if (base == "environment") return {};
  return error(at("$schema")->place,
               fmt::format("'{}' names the schema of '{}', but this is an environment",
                           shown("$schema"), base));
}

Status DefinitionReader::check_os() const {
  const YamlNode* os = at("os_type");
  if (os == nullptr || lower_case(os->text) == "linux") return {};
  return error(
      os->place,
      fmt::format("'{}': '{}' is not supported; it must be linux", shown("os_type"), os->text),
      ErrorCode::unsupported);
}

}  // namespace lockstep::spec
