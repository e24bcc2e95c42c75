#include "launcher/spec/environment_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace lockstep::spec {
namespace {

Result<ReadEnvironment> read_entry(const Source& source, const YamlEntry& entry,
                                   const ReadText& read_text) {
  const YamlNode& value = entry.value;
  Notes notes;  // nobody is there to see them
  if (value.kind == YamlNode::Kind::mapping)
    return read_definition(source, value, "", read_text, notes);
  if (value.kind != YamlNode::Kind::scalar || value.text.empty())
    return source.error(
        entry.place,
        fmt::format("'{}' must be the path of an environment file, or a mapping", entry.key));
  const auto file = std::filesystem::path(source.name).parent_path() / value.text;
  const auto text = read_text(file.string());
  if (!text) return source.error(value.place, text.error().message, text.error().code);
  return load_environment(file.string(), read_text, notes);
}

// A map that has been made and not been filled yet.
bool has_no_entries(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

}  // namespace

Result<std::optional<RegisteredEnvironment>> find_in_map(const std::string& path,
                                                         const std::vector<std::string>& keys,
                                                         const ReadText& read_text) {
  const auto text = read_text(path);
  if (!text && text.error().code == ErrorCode::not_found) return std::nullopt;
  if (!text) return text.error();
  const std::string_view content = without_mark(*text);
  if (has_no_entries(content)) return std::nullopt;
  const Source source{path, content, "a map of environments", "one entry"};
  TRY_ASSIGN(const YamlNode root, parse_yaml(source));
  for (const std::string& key : keys) {
    const YamlEntry* entry = root.find(key);
    if (entry == nullptr) continue;
    TRY_ASSIGN(ReadEnvironment found, read_entry(source, *entry, read_text));
    if (found.build)
      return source.error(entry->place,
                          fmt::format("'{}' builds an image, but a map can only name images of a "
                                      "registry; push the image, and write its name under 'image'",
                                      entry->key),
                          ErrorCode::unsupported);
    return std::optional(std::move(found.environment));
  }
  return std::nullopt;
}

}  // namespace lockstep::spec
