#include "launcher/files/yaml/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/domain/data/outputs.h"
#include "launcher/files/yaml/bindings.h"
#include "launcher/files/yaml/key_notes.h"
#include "launcher/files/yaml/keys.h"

namespace lockstep::spec {

namespace {

class ShapeChecker {
 public:
  ShapeChecker(const Source& source, Faults& faults, const KeyTable& table, Numbers numbers)
      : source_(source), faults_(faults), table_(table), numbers_(numbers) {}

  void check_section(YamlNode& node, const std::string& section) const;

 private:
  Error error(const Place& place, std::string_view message) const {
    return source_.error(place, message);
  }
  Error unknown_key(const YamlEntry& entry, std::string_view section) const;
  // Calls `check` for each entry, and removes entries with errors.
  template <typename Check>
  void check_entries(YamlNode& node, const std::string& section, const Check& check) const;
  Status check_key(YamlEntry& entry, const std::string& section, const std::string& shown) const;
  Status check_value(YamlEntry& entry, const std::string& path, Shape shape) const;
  // Checks whether it is a scalar, a list or a mapping, as its shape requires.
  Status check_kind(const YamlNode& node, const std::string& path, Shape shape) const;
  Status check_contents(YamlEntry& entry, const std::string& path, Shape shape) const;
  Status check_text(const YamlEntry& entry, const std::string& path) const;
  Status check_input(YamlEntry& input, const std::string& path) const;
  Status check_output(YamlEntry& output, const std::string& path, Shape shape) const;
  Status check_number(const YamlEntry& entry, const std::string& path, Shape shape) const;

  const Source& source_;
  Faults& faults_;
  const KeyTable& table_;
  const Numbers numbers_;
};

Error ShapeChecker::unknown_key(const YamlEntry& entry, std::string_view section) const {
  std::string message = fmt::format("unknown key '{}'", join(section, entry.key));
  // If the file is something else, it has many unknown keys; only the first are reported.
  const std::string near = faults_.is_full() ? "" : nearest_key(table_, section, entry.key);
  if (!near.empty()) message += fmt::format("; did you mean '{}'?", near);
  return error(entry.place, message);
}

template <typename Check>
void ShapeChecker::check_entries(YamlNode& node, const std::string& section,
                                 const Check& check) const {
  std::erase_if(node.entries, [&](YamlEntry& entry) {
    const Status good = check(entry);
    if (good) return false;
    faults_.add(entry.place, good);
    faults_.mark_faulty(join(section, entry.key));
    return true;
  });
}

void ShapeChecker::check_section(YamlNode& node, const std::string& section) const {
  check_entries(node, section,
                [&](YamlEntry& entry) { return check_key(entry, section, section); });
}

// Checks a key. `section` is the name in the table, `shown` the name in the file: "outputs.*" and
// "outputs.model".
Status ShapeChecker::check_key(YamlEntry& entry, const std::string& section,
                               const std::string& shown) const {
  const std::string path = join(section, entry.key);
  const KnownKey* key = entry.key.find('.') == std::string::npos ? table_.find(path) : nullptr;
  if (key == nullptr) {
    const std::string meant = faults_.is_full() ? "" : nearest_key(table_, section, entry.key);
    if (!meant.empty()) faults_.mark_faulty(meant);
    return unknown_key(entry, section);
  }
  const std::string name = join(shown, entry.key);
  const bool is_refused = key->shape == Shape::not_yet || key->shape == Shape::of_pipeline ||
                          key->shape == Shape::of_step || key->shape == Shape::of_job;
  if (!is_refused) return check_value(entry, name, key->shape);
  if (is_empty(entry.value)) return {};
  if (key->shape == Shape::of_pipeline)
    return error(entry.place,
                 fmt::format("'{}' belongs to the pipeline; move it out of the step", name));
  if (key->shape == Shape::of_step)
    return error(entry.place,
                 fmt::format("'{}' belongs to a step; write it in each step that needs it", name));
  if (key->shape == Shape::of_job)
    return error(entry.place,
                 fmt::format("'{}' {}", name,
                             key->instead.empty() ? "is not possible in a step, which begins when "
                                                    "its inputs are there"
                                                  : key->instead));
  Error refused = not_yet(source_, entry.place, fmt::format("'{}'", name));
  const std::string_view instead = key->instead.empty() ? note_of(path) : key->instead;
  if (!instead.empty()) refused.message.append("; ").append(instead);
  return refused;
}

Status ShapeChecker::check_kind(const YamlNode& node, const std::string& path, Shape shape) const {
  const bool wants_mapping = shape == Shape::section_or_word || shape == Shape::section ||
                             shape == Shape::text_map || shape == Shape::inputs ||
                             shape == Shape::outputs || shape == Shape::bound_outputs ||
                             shape == Shape::anything;
  if (wants_mapping && node.kind != YamlNode::Kind::mapping)
    return error(node.place, fmt::format("'{}' must be a mapping of keys to values, not {}", path,
                                         describe(node.kind)));
  if (!wants_mapping && shape != Shape::retry_on && node.kind != YamlNode::Kind::scalar)
    return error(node.place,
                 fmt::format("'{}' must be {}, not {}", path,
                             shape == Shape::text ? "a string" : "a number", describe(node.kind)));
  return {};
}

Status ShapeChecker::check_value(YamlEntry& entry, const std::string& path, Shape shape) const {
  YamlNode& node = entry.value;
  if (node.kind == YamlNode::Kind::null) return {};  // a key whose value is commented out
  // The readers of these shapes check them.
  if (shape == Shape::environment || shape == Shape::words || shape == Shape::patterns ||
      shape == Shape::after || shape == Shape::unchecked || shape == Shape::unused)
    return {};
  if (shape == Shape::section_or_word && node.kind != YamlNode::Kind::mapping) shape = Shape::text;
  TRY(check_kind(node, path, shape));
  return check_contents(entry, path, shape);
}

Status ShapeChecker::check_contents(YamlEntry& entry, const std::string& path, Shape shape) const {
  YamlNode& node = entry.value;
  switch (shape) {
    case Shape::text:
    case Shape::retry_on:
    case Shape::words:
    case Shape::lines:
    case Shape::patterns:
    case Shape::after:
    case Shape::conda_file:
    case Shape::environment:
    case Shape::anything:
    case Shape::unchecked:
    case Shape::unused:
    case Shape::of_pipeline:
    case Shape::of_step:
    case Shape::of_job:
    case Shape::not_yet: return {};
    case Shape::section_or_word:
    case Shape::section: check_section(node, path); return {};
    case Shape::text_map:
      check_entries(node, path, [&](YamlEntry& text) { return check_text(text, path); });
      return {};
    case Shape::inputs:
      check_entries(node, path,
                    [&](YamlEntry& input) { return check_input(input, join(path, input.key)); });
      return {};
    case Shape::outputs:
    case Shape::bound_outputs:
      check_entries(node, path, [&](YamlEntry& output) {
        return check_output(output, join(path, output.key), shape);
      });
      return {};
    case Shape::whole_number:
    case Shape::duration:
    case Shape::bytes: return check_number(entry, path, shape);
  }
  return {};
}

Status ShapeChecker::check_text(const YamlEntry& entry, const std::string& path) const {
  const std::string name = join(path, entry.key);
  switch (entry.value.kind) {
    case YamlNode::Kind::scalar: return {};
    case YamlNode::Kind::null:
      return error(entry.place,
                   fmt::format("'{}' has no value; write \"\" for an empty one", name));
    case YamlNode::Kind::sequence:
      return error(entry.value.place, fmt::format("'{}' must be a string, not a list", name));
    case YamlNode::Kind::mapping:
      return error(entry.value.place, fmt::format("'{}' must be a string, not a mapping", name));
  }
  return {};
}

Status ShapeChecker::check_input(YamlEntry& input, const std::string& path) const {
  if (!valid_output_name(input.key))
    return error(input.place,
                 fmt::format("'{}' is not a valid input name; use at most {} letters, digits and "
                             "'_', and do not begin with a digit",
                             input.key, kMaxOutputNameBytes));
  if (input.value.kind != YamlNode::Kind::mapping) return check_text(input, "inputs");
  check_entries(input.value, path,
                [&](YamlEntry& entry) { return check_key(entry, "inputs.*", path); });
  return {};
}

Status ShapeChecker::check_output(YamlEntry& output, const std::string& path, Shape shape) const {
  if (!valid_output_name(output.key))
    return error(output.place,
                 fmt::format("'{}' is not a valid output name; use at most {} letters, digits "
                             "and '_', and do not begin with a digit",
                             output.key, kMaxOutputNameBytes));
  if (output.value.kind == YamlNode::Kind::null) return {};
  const bool may_be_bound = shape == Shape::bound_outputs;
  if (may_be_bound && output.value.kind == YamlNode::Kind::scalar) return {};
  if (output.value.kind != YamlNode::Kind::mapping)
    return error(output.value.place,
                 fmt::format("'{}' must be a mapping (type, mode) or nothing, not {}", path,
                             describe(output.value.kind)));
  check_entries(output.value, path,
                [&](YamlEntry& entry) { return check_key(entry, "outputs.*", path); });
  return {};
}

Status ShapeChecker::check_number(const YamlEntry& entry, const std::string& path,
                                  Shape shape) const {
  const std::string& value = entry.value.text;
  if (numbers_ == Numbers::may_be_bound && mentions_parent(value)) return {};
  const std::string& from = entry.value.filled_from;
  const auto wrong = [&](std::string_view why) {
    return error(entry.value.place, fmt::format("'{}': '{}'{} {}", path, value,
                                                from.empty() ? "" : " (" + from + ")", why));
  };
  if (shape == Shape::duration && parse_duration(value) < Duration::zero())
    return wrong("is not a time; write seconds, or 90s, 5m, 2h, 1d");
  if (shape == Shape::bytes) {
    const auto bytes = parse_bytes(value);
    if (!bytes) return wrong("is not a size; write 512m or 2g");
    if (path == kMemoryKey && *bytes < mebibytes(1))
      return wrong(fmt::format("is {}, too small to run in; write 512m or 2g", to_string(*bytes)));
  }
  if (shape == Shape::whole_number && !to_whole_number(value))
    return wrong("is not a whole number");
  return {};
}

}  // namespace

void check_shapes(const Source& source, YamlNode& root, Faults& faults, const KeyTable& table,
                  Numbers numbers) {
  ShapeChecker(source, faults, table, numbers).check_section(root, "");
}

void add_notes_on_unused(const Source& source, const YamlNode& root, const KeyTable& table,
                         std::vector<std::string>& notes) {
  for (const YamlEntry& entry : root.entries) {
    const KnownKey* key = table.find(entry.key);
    if (key == nullptr || key->shape != Shape::unused || is_empty(entry.value)) continue;
    notes.push_back(fmt::format("{}: '{}' has no effect: {}", source.where(entry.place), entry.key,
                                note_of(entry.key)));
  }
}

bool is_empty(const YamlNode& node) {
  return node.kind != YamlNode::Kind::scalar && node.items.empty() && node.entries.empty();
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
