#include "launcher/files/environment/environment_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "common/grammar/image_name.h"
#include "launcher/files/yaml/parsed.h"

namespace lockstep::spec {
namespace {

// An image with this value runs with an unchanged PATH.
constexpr std::string_view kNoEnvironment = "none";

bool is_image(std::string_view key) {
  return key.ends_with(":latest") || (key.find('/') != key.npos && !key.starts_with("azureml://"));
}

Result<ReadEnvironment> read_entry(const Source& source, const YamlEntry& entry,
                                   const ReadText& read_text) {
  const YamlNode& value = entry.value;
  Notes notes;  // nobody is there to read the notes
  if (value.kind == YamlNode::Kind::mapping)
    return read_definition(source, value, "", read_text, notes);
  if (value.kind != YamlNode::Kind::scalar || value.text.empty())
    return source.error(entry.place,
                        fmt::format("'{}' must be the path of an environment file, {}", entry.key,
                                    is_image(entry.key) ? "a mapping, or none" : "or a mapping"));
  const auto file = std::filesystem::path(source.name).parent_path() / value.text;
  const auto text = read_text(file.string());
  if (!text) return source.error(value.place, text.error().message, text.error().code);
  return load_environment(file.string(), read_text, notes);
}

// Whether a map was made but has no entries yet.
bool has_no_entries(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

// The current contents of the map's file.
struct Map {
  std::string text;
  Source source;  // refers to `text`
  YamlNode root;
};

// Opens the map; null: there is none, or it has no entries.
Result<std::unique_ptr<Map>> open_map(const std::string& path, const ReadText& read_text) {
  auto text = read_text(path);
  if (!text && text.error().code == ErrorCode::not_found) return std::unique_ptr<Map>();
  if (!text) return text.error();
  auto map = std::make_unique<Map>();
  map->text = *std::move(text);
  map->source = {path, without_mark(map->text), "a map of environments", "one entry"};
  if (has_no_entries(map->source.text)) return std::unique_ptr<Map>();
  TRY_ASSIGN(map->root, parse_yaml(map->source));
  return map;
}

Result<RegisteredEnvironment> read_target(const Source& source, const YamlEntry& entry,
                                          const ReadText& read_text) {
  TRY_ASSIGN(ReadEnvironment found, read_entry(source, entry, read_text));
  if (!found.build) return std::move(found.environment);
  return source.error(entry.place,
                      fmt::format("'{}' builds an image, but a map can only name images of a "
                                  "registry; push the image, and write its name under 'image'",
                                  entry.key),
                      ErrorCode::unsupported);
}

// Entries by their normalised name.
Result<std::map<std::string, const YamlEntry*>> images_of(const Map& map) {
  std::map<std::string, const YamlEntry*> images;
  for (const YamlEntry& entry : map.root.entries) {
    if (!is_image(entry.key)) continue;
    if (const Status good = check_image_name(entry.key); !good)
      return map.source.error(entry.place, good.error().message +
                                               "; a key with a '/', or that "
                                               "ends with ':latest', is an "
                                               "image's name");
    const auto [other, is_new] = images.emplace(normal_image_name(entry.key), &entry);
    if (!is_new)
      return map.source.error(
          entry.place,
          fmt::format("'{}' is the image '{}', which line {} has already; remove one of the lines",
                      entry.key, other->second->key, other->second->place.line));
  }
  return images;
}

}  // namespace

Result<std::optional<RegisteredEnvironment>> find_in_map(const std::string& path,
                                                         const std::vector<std::string>& keys,
                                                         const ReadText& read_text) {
  TRY_ASSIGN(const auto map, open_map(path, read_text));
  if (!map) return std::nullopt;
  for (const std::string& key : keys) {
    const YamlEntry* entry = is_image(key) ? nullptr : map->root.find(key);
    if (entry == nullptr) continue;
    TRY_ASSIGN(RegisteredEnvironment found, read_target(map->source, *entry, read_text));
    return std::optional(std::move(found));
  }
  return std::nullopt;
}

Result<MappedImages> find_images_in_map(const std::string& path,
                                        const std::set<std::string>& images,
                                        const ReadText& read_text) {
  MappedImages mapped;
  TRY_ASSIGN(const auto map, open_map(path, read_text));
  if (!map) return mapped;
  TRY_ASSIGN(const auto known, images_of(*map));
  for (const std::string& image : images) {
    const auto found = known.find(normal_image_name(image));
    if (found == known.end()) continue;
    const YamlNode& value = found->second->value;
    std::optional<EnvironmentSpec>& target = mapped[image];
    if (value.kind == YamlNode::Kind::scalar && value.text == kNoEnvironment) continue;
    TRY_ASSIGN(RegisteredEnvironment read, read_target(map->source, *found->second, read_text));
    target = std::move(read.spec);
  }
  return mapped;
}

}  // namespace lockstep::spec
