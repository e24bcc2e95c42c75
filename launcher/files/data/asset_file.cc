#include "launcher/files/data/asset_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/nearest.h"
#include "common/base/quoted_name.h"
#include "common/domain/data/data_reference.h"
#include "launcher/files/data/data_path.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/named_text.h"
#include "launcher/files/yaml/parsed.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {
namespace {

using Kind = YamlNode::Kind;

constexpr std::array<std::string_view, 7> kKeysOfAssets{"$schema", "name",        "version", "type",
                                                        "path",    "description", "tags"};
// Keys of Azure that have no meaning here yet.
constexpr std::array<std::string_view, 6> kAssetKeysNotYet{
    "properties",          "stage",     "flavors",
    "auto_delete_setting", "datastore", "default_deployment_template"};

template <typename Words>
bool has_word(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class AssetReader {
 public:
  AssetReader(AssetKind kind, const Source& source, const YamlNode& root, Faults& faults)
      : kind_(kind), source_(source), root_(root), faults_(faults) {}

  AssetFile read() {
    check_keys();
    AssetFile file;
    RegisteredAsset& asset = file.asset;
    asset.name = text("name").value_or("");
    asset.version = text("version").value_or("");
    asset.description = text("description").value_or("");
    read_tags(asset);
    read_type(asset);
    read_path(file);
    for (const char* key : {"name", "version", "path"})
      if (const YamlNode* value = at(key)) file.where[key] = source_.where(value->place);
    if (asset.name.empty()) fault(root_.place, "needs a name: write 'name', or give --name");
    if (!faults_.empty()) return file;
    if (const Status valid = validate(asset); !valid) {
      const std::string& why = valid.error().message;
      const YamlNode* value = at(std::string_view(why).substr(0, why.find(':')));
      fault(value == nullptr ? root_.place : value->place, why);
    }
    return file;
  }

 private:
  // Adds a fault; without a file, no line can be named.
  void fault(const Place& place, const std::string& message,
             ErrorCode code = ErrorCode::invalid_argument) {
    const bool has_place = !source_.name.empty() || place.override_text;
    faults_.add(place, has_place ? source_.error(place, message, code) : make_error(code, message));
  }
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* entry = root_.find(key);
    return entry == nullptr || entry->value.kind == Kind::null ? nullptr : &entry->value;
  }
  std::optional<std::string> text(std::string_view key) {
    const YamlNode* value = at(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind == Kind::scalar) return value->text;
    fault(value->place,
          fmt::format("'{}' must be a single value, not {}", key, describe(value->kind)));
    return std::nullopt;
  }

  void check_keys() {
    for (const YamlEntry& entry : root_.entries) {
      if (has_word(kKeysOfAssets, entry.key)) continue;
      if (has_word(kAssetKeysNotYet, entry.key)) {
        if (!is_empty(entry.value))
          fault(entry.place, fmt::format("'{}' is not supported yet; leave it out", entry.key),
                ErrorCode::unsupported);
        continue;
      }
      const std::string near = nearest(entry.key, kKeysOfAssets);
      fault(entry.place,
            fmt::format("unknown key '{}'; {}", entry.key,
                        near.empty() ? fmt::format("there are {}", fmt::join(kKeysOfAssets, ", "))
                                     : fmt::format("did you mean '{}'?", near)));
    }
  }

  void read_tags(RegisteredAsset& asset) {
    const YamlNode* tags = at("tags");
    if (tags == nullptr) return;
    if (tags->kind != Kind::mapping)
      return fault(tags->place, fmt::format("'tags' must be a mapping of keys to values, not {}",
                                            describe(tags->kind)));
    for (const YamlEntry& entry : tags->entries) {
      if (entry.value.kind == Kind::mapping || entry.value.kind == Kind::sequence)
        fault(entry.value.place, fmt::format("'tags.{}' must be a single value, not {}", entry.key,
                                             describe(entry.value.kind)));
      else
        asset.tags[entry.key] = entry.value.text;
    }
  }

  void read_type(RegisteredAsset& asset) {
    asset.type = kind_ == AssetKind::data ? InputType::uri_folder : InputType::custom_model;
    const auto word = text("type");
    if (!word) return;
    const auto type = input_type_from(lower_case(*word));
    if (type && kind_of(*type) == kind_) {
      asset.type = *type;
      return;
    }
    std::string message = fmt::format("'type': {} is not a type of {}; it is {}",
                                      quoted_name(*word), noun_of(kind_), types_of(kind_));
    if (type)
      message += fmt::format(" (`lockstep {} create` takes {})", to_string(kind_of(*type)), *word);
    fault(at("type")->place, message);
  }

  void read_path(AssetFile& file) {
    const auto written = text("path");
    if (!written || written->empty())
      return fault(at("path") == nullptr ? root_.place : at("path")->place,
                   "needs files: write 'path', or give --path");
    const Place& place = at("path")->place;
    file.asset.path = *written;
    const auto reference = parse_data_reference(*written);
    if (!reference)
      return fault(place, "'path': " + reference.error().message, reference.error().code);
    if (*reference) {
      if (std::holds_alternative<AssetReference>(**reference))
        fault(place,
              fmt::format("'path': {} is registered already; name files, or "
                          "azureml://jobs/JOB/outputs/OUTPUT",
                          quoted_name(*written)),
              ErrorCode::unsupported);
      return;
    }
    const std::string local = without_file_scheme(*written);
    if (local.find("://") != std::string::npos)
      return fault(place,
                   fmt::format("'path': {} is not supported yet; name a local file or folder, "
                               "azureml://jobs/JOB/outputs/OUTPUT, or, for a remote that the "
                               "operator has named, azureml://datastores/NAME/paths/PATH",
                               quoted_name(*written)),
                   ErrorCode::unsupported);
    if (local.empty()) return fault(place, "'path': names no file");
    const bool has_place = !source_.name.empty() || place.override_text;
    file.local = LocalData{"path", local, place, has_place ? source_.where(place) : "", ""};
  }

  const AssetKind kind_;
  const Source& source_;
  const YamlNode& root_;
  Faults& faults_;
};

void set_option(YamlNode& root, const std::string& key, const std::string& text) {
  YamlEntry entry{key, {}, {}};
  entry.place.override_text = fmt::format("--{} {}", key, text);  // the text as it was typed
  entry.value.kind = Kind::scalar;
  entry.value.text = text;
  entry.value.place = entry.place;
  std::erase_if(root.entries, [&](const YamlEntry& known) { return known.key == key; });
  root.entries.push_back(std::move(entry));
}

Source asset_source(const std::string& name, std::string_view text) {
  return {name, without_mark(text), "an asset file", "a 'name' and a 'path'"};
}

}  // namespace

Result<AssetFile> parse_asset(AssetKind kind, const std::string& name, std::string_view text,
                              const AssetOptions& options) {
  const Source source = asset_source(name, text);
  YamlNode root;
  root.kind = Kind::mapping;
  if (!name.empty()) {
    TRY_ASSIGN(root, parse_yaml(source));
  }
  for (const auto& [key, value] : options.values) set_option(root, key, value);
  Faults faults;
  for (const std::string& assignment : options.overrides) {
    Place place;
    place.override_text = assignment;
    faults.add(place, apply_override(root, assignment));
  }
  AssetFile file = AssetReader(kind, source, root, faults).read();
  TRY(faults.status());
  for (const auto& [key, value] : options.tags) file.asset.tags[key] = value;
  return file;
}

Result<AssetFile> load_asset(AssetKind kind, const std::string& path, const AssetOptions& options) {
  NamedText named;
  if (!path.empty()) {
    TRY_ASSIGN(named, read_named_text(path, Bytes{kMaxFileBytes + 1}));
  }
  TRY_ASSIGN(AssetFile file, parse_asset(kind, named.name, named.text, options));
  if (!file.local) return file;
  const bool is_of_options = std::any_of(options.values.begin(), options.values.end(),
                                         [](const auto& value) { return value.first == "path"; });
  LocalData& local = *file.local;
  local.path = absolute_path(is_of_options ? "" : path, local.path);
  if (const Status good = check_files(local.path, file.asset.type, file.asset.file); !good) {
    const Error error = make_error(good.error().code, "'path': " + good.error().message);
    return local.where.empty() ? error : error.within(local.where);
  }
  return file;
}

Error with_place(const Error& error, const AssetFile& file) {
  const bool is_version = error.code == ErrorCode::already_exists;
  const bool has_version = file.where.contains("version");
  const std::string path = fmt::format("path: {}: ", file.asset.path);
  const auto found = file.where.find(error.message.starts_with("path: ") ? "path"
                                     : !is_version                       ? ""
                                     : has_version                       ? "version"
                                                                         : "name");
  if (found == file.where.end()) return error;
  const std::string& where = found->second;
  const bool repeats = where.starts_with("--path ") && error.message.starts_with(path);
  return Error{error.code, repeats ? error.message.substr(path.size()) : error.message}.within(
      where);
}

}  // namespace lockstep::spec
