#include "launcher/spec/job_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/domain/outputs.h"
#include "launcher/spec/keys.h"

namespace lockstep::spec {

namespace {

class ShapeChecker {
 public:
  explicit ShapeChecker(const Source& source) : source_(source) {}

  Status check_section(const YamlNode& node, const std::string& section) const;

 private:
  Error error(const Place& place, std::string_view message) const {
    return source_.error(place, message);
  }
  Error unknown_key(const YamlEntry& entry, std::string_view section) const;
  Status check_value(const YamlEntry& entry, const std::string& path, Shape shape) const;
  Status check_text_map(const YamlNode& node, const std::string& path) const;
  Status check_outputs(const YamlNode& node) const;
  Status check_number(const YamlEntry& entry, const std::string& path, Shape shape) const;

  const Source& source_;
};

Error ShapeChecker::unknown_key(const YamlEntry& entry, std::string_view section) const {
  std::string message = fmt::format("unknown key '{}'", join(section, entry.key));
  const std::string near = nearest_key(section, entry.key);
  if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
  return error(entry.place, message);
}

Status ShapeChecker::check_section(const YamlNode& node, const std::string& section) const {
  for (const auto& entry : node.entries) {
    const std::string path = join(section, entry.key);
    const KnownKey* key = entry.key.find('.') == std::string::npos ? find_key(path) : nullptr;
    if (key == nullptr) return unknown_key(entry, section);
    if (key->shape == Shape::not_yet)
      return not_yet(source_, entry.place, fmt::format("'{}'", path));
    TRY(check_value(entry, path, key->shape));
  }
  return {};
}

Status ShapeChecker::check_value(const YamlEntry& entry, const std::string& path,
                                 Shape shape) const {
  const YamlNode& node = entry.value;
  if (node.kind == YamlNode::Kind::null) return {};  // a key whose value is commented out
  // Their readers check them.
  if (shape == Shape::environment || shape == Shape::words) return {};
  const bool wants_mapping =
      shape == Shape::section || shape == Shape::text_map || shape == Shape::outputs;
  if (wants_mapping && node.kind != YamlNode::Kind::mapping)
    return error(node.place, fmt::format("'{}' must be a mapping of keys to values, not {}", path,
                                         describe(node.kind)));
  if (!wants_mapping && shape != Shape::retry_on && node.kind != YamlNode::Kind::scalar)
    return error(node.place,
                 fmt::format("'{}' must be {}, not {}", path,
                             shape == Shape::text ? "a text" : "a number", describe(node.kind)));
  switch (shape) {
    case Shape::text:
    case Shape::retry_on:
    case Shape::words:
    case Shape::lines:
    case Shape::conda_file:
    case Shape::environment:
    case Shape::not_yet: return {};
    case Shape::section: return check_section(node, path);
    case Shape::text_map: return check_text_map(node, path);
    case Shape::outputs: return check_outputs(node);
    case Shape::whole_number:
    case Shape::duration:
    case Shape::bytes: return check_number(entry, path, shape);
  }
  return {};
}

Status ShapeChecker::check_text_map(const YamlNode& node, const std::string& path) const {
  const std::string inner = path + ".*";
  const bool has_inner_keys =
      std::any_of(known_keys().begin(), known_keys().end(),
                  [&](const KnownKey& key) { return key.path.rfind(inner + ".", 0) == 0; });
  for (const auto& entry : node.entries) {
    const std::string name = join(path, entry.key);
    if (path == "inputs" && !valid_output_name(entry.key))
      return error(entry.place,
                   fmt::format("'{}' is not an input's name: letters, digits and '_', not starting "
                               "with a digit",
                               entry.key));
    switch (entry.value.kind) {
      case YamlNode::Kind::scalar: continue;
      case YamlNode::Kind::null:
        return error(entry.place,
                     fmt::format("'{}' has no value; write \"\" for an empty one", name));
      case YamlNode::Kind::sequence:
        return error(entry.value.place, fmt::format("'{}' must be a text, not a list", name));
      case YamlNode::Kind::mapping: break;
    }
    if (!has_inner_keys || entry.value.entries.empty())
      return error(entry.value.place, fmt::format("'{}' must be a text, not a mapping", name));
    const YamlEntry& first = entry.value.entries.front();
    if (find_key(join(inner, first.key)) == nullptr) return unknown_key(first, inner);
    return not_yet(source_, first.place, fmt::format("'{}'", join(name, first.key)));
  }
  return {};
}

Status ShapeChecker::check_outputs(const YamlNode& node) const {
  for (const auto& output : node.entries) {
    const std::string path = join("outputs", output.key);
    if (!valid_output_name(output.key))
      return error(
          output.place,
          fmt::format("'{}' is not an output's name: letters, digits and '_', not starting "
                      "with a digit",
                      output.key));
    if (output.value.kind == YamlNode::Kind::null) continue;
    if (output.value.kind != YamlNode::Kind::mapping)
      return error(output.value.place,
                   fmt::format("'{}' must be a mapping (type, mode) or nothing, not {}", path,
                               describe(output.value.kind)));
    for (const auto& entry : output.value.entries) {
      const KnownKey* key = find_key(join("outputs.*", entry.key));
      if (key == nullptr) return unknown_key(entry, "outputs.*");
      const std::string inner = join(path, entry.key);
      if (key->shape == Shape::not_yet)
        return not_yet(source_, entry.place, fmt::format("'{}'", inner));
      TRY(check_value(entry, inner, key->shape));
    }
  }
  return {};
}

Status ShapeChecker::check_number(const YamlEntry& entry, const std::string& path,
                                  Shape shape) const {
  const std::string& value = entry.value.text;
  const Place& place = entry.value.place;
  if (shape == Shape::duration && parse_duration(value) < Duration::zero())
    return error(place, fmt::format("'{}': '{}' is not a time; write seconds, or 90s, 5m, 2h, 1d",
                                    path, value));
  if (shape == Shape::bytes) {
    const auto bytes = parse_bytes(value);
    if (!bytes)
      return error(place, fmt::format("'{}': '{}' is not a size; write 512m or 2g", path, value));
    if (path == kMemoryKey && *bytes < mebibytes(1))
      return error(place, fmt::format("'{}': '{}' is {}, too small to run in; write 512m or 2g",
                                      path, value, to_string(*bytes)));
  }
  if (shape == Shape::whole_number && !to_whole_number(value))
    return error(place, fmt::format("'{}': '{}' is not a whole number", path, value));
  return {};
}

}  // namespace

Status check_shapes(const Source& source, const YamlNode& root) {
  return ShapeChecker(source).check_section(root, "");
}

Error not_yet(const Source& source, const Place& place, std::string_view what) {
  return source.error(place, fmt::format("{} is not supported yet", what), ErrorCode::unsupported);
}

std::string join(std::string_view section, std::string_view key) {
  return section.empty() ? std::string(key) : fmt::format("{}.{}", section, key);
}

std::optional<int> to_whole_number(const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace lockstep::spec
