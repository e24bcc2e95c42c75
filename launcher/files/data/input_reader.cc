#include "launcher/files/data/input_reader.h"

#include <fmt/format.h>

#include "common/base/quoted_name.h"
#include "common/domain/data/data_reference.h"
#include "launcher/files/data/component_rules.h"
#include "launcher/files/data/data_path.h"
#include "launcher/files/yaml/known_word.h"
#include "launcher/files/yaml/literal_text.h"
#include "launcher/files/yaml/shapes.h"

namespace lockstep::spec {
namespace {

// "iris.csv" for "https://example.com/sets/iris.csv?raw=1".
std::string file_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const auto host = url.find("://") + 3;
  const auto slash = url.rfind('/');
  const std::string name(slash == std::string_view::npos || slash < host ? ""
                                                                         : url.substr(slash + 1));
  const bool is_name = !name.empty() && name != "." && name != ".." && name.size() <= 255;
  return is_name ? name : "data";
}

const YamlNode* scalar_in(const YamlNode& node, std::string_view key) {
  const YamlEntry* found = node.find(key);
  return found == nullptr || found->value.kind != YamlNode::Kind::scalar ? nullptr : &found->value;
}

// Removes "azureml:", which Azure's SDK also writes before addresses and local paths.
std::string without_needless_azureml(const std::string& path) {
  constexpr std::string_view kAzureml = "azureml:";
  if (!path.starts_with(kAzureml)) return path;
  const std::string rest = path.substr(kAzureml.size());
  const bool is_local = rest.starts_with("./") || rest.starts_with("../");
  return is_local || is_web_path(rest) ? rest : path;
}

class InputReader {
 public:
  InputReader(const Source& source, const YamlNode& node, const DataTraits& traits, ReadInputs& out)
      : source_(source),
        node_(node),
        traits_(traits),
        path_(join("inputs", traits.name)),
        out_(out) {}

  Status read(const Place& key) {
    DataInput input;
    input.name = traits_.name;
    TRY_ASSIGN(const auto type, read_data_type(source_, node_, traits_.name));
    TRY_ASSIGN(const auto mode, read_data_mode(source_, node_, traits_.name));
    input.type = type.value_or(traits_.type.value_or(input.type));
    input.mode = traits_.mode.value_or(mode.value_or(input.mode));
    has_type_ = type || traits_.type;
    const YamlNode* path = scalar_in(node_, "path");
    if (path == nullptr || path->text.empty())
      return source_.error(
          path == nullptr ? key : path->place,
          fmt::format("'{0}' needs a path: write {0}.path: ./data, or a plain value for a literal",
                      path_));
    TRY(place(*path, input));
    out_.where[input.name] = source_.where(path->place);
    out_.data.push_back(std::move(input));
    return {};
  }

 private:
  Error not_supported(const YamlNode& path, std::string_view instead) const {
    return source_.error(path.place,
                         fmt::format("'{}.path': {} is not supported yet; {}", path_,
                                     quoted_name(path.text), instead),
                         ErrorCode::unsupported);
  }
  Error not_writable(const YamlNode& path) const {
    return source_.error(
        path.place,
        fmt::format("'{}.mode': rw_mount changes files in place, so the path must be in a "
                    "datastore's directory: azureml://datastores/NAME/paths/PATH; write mode: "
                    "download for a copy that the ranks may change",
                    path_));
  }
  // Takes a reference to something of the launcher, which checks that it exists.
  Status take_reference(const YamlNode& path, DataInput& input) const {
    const auto reference = parse_data_reference(path.text);
    if (!reference)
      return source_.error(path.place,
                           fmt::format("'{}.path': {}", path_, reference.error().message),
                           reference.error().code);
    // true until the launcher knows the datastore
    const bool is_stored = std::holds_alternative<DatastoreReference>(**reference);
    if (std::holds_alternative<JobOutputReference>(**reference))
      TRY(check_may_read(source_, path.place, "outputs of a job"));
    if (input.mode == InputMode::direct && is_stored) input.address = path.text;
    if (input.mode == InputMode::direct && !is_stored)
      return source_.error(path.place,
                           fmt::format("'{}': files of the launcher have no address; write mode: "
                                       "ro_mount or download",
                                       path_));
    if (input.mode == InputMode::rw_mount && !is_stored) return not_writable(path);
    input.is_type_open = std::holds_alternative<AssetReference>(**reference) && !has_type_;
    return {};
  }
  // The launcher fetches it when the job is submitted, unless the input is direct.
  Status take_web(const YamlNode& path, DataInput& input) {
    if (input.mode == InputMode::direct) {
      input.address = path.text;
      return {};
    }
    if (input.type != InputType::uri_file && input.type != InputType::custom_model)
      return source_.error(
          path.place,
          fmt::format("'{}.path': an address names one file; write type: uri_file", path_));
    TRY(check_may_read(source_, path.place, "an address"));
    input.file = file_of(path.text);
    input.source = without_credentials(path.text);
    out_.local.push_back({input.name, "", path.place, source_.where(path.place), path.text});
    return {};
  }
  Status place(YamlNode path, DataInput& input) {
    path.text = without_needless_azureml(path.text);
    input.source = path.text;
    if (path.text.starts_with("azureml:")) return take_reference(path, input);
    if (input.mode == InputMode::rw_mount) return not_writable(path);
    if (is_cloud_path(path.text))
      return not_supported(
          path,
          "name a local file or folder, or a datastore that the launcher's operator "
          "makes of this storage: azureml://datastores/NAME/paths/PATH");
    if (is_web_path(path.text)) return take_web(path, input);
    const std::string local = without_file_scheme(path.text);
    if (local.find("://") != std::string::npos)
      return not_supported(path, "name a local file or folder");
    if (local.empty())
      return source_.error(path.place, fmt::format("'{}.path': names no file", path_));
    if (input.mode == InputMode::direct) input.address = local;
    out_.local.push_back({input.name, local, path.place, source_.where(path.place), ""});
    return {};
  }

  const Source& source_;
  const YamlNode& node_;
  const DataTraits& traits_;
  const std::string path_;
  ReadInputs& out_;
  bool has_type_ = false;
};

}  // namespace

Result<std::optional<InputType>> read_data_type(const Source& source, const YamlNode& node,
                                                const std::string& name) {
  const YamlNode* type = scalar_in(node, "type");
  if (type == nullptr) return std::optional<InputType>();
  const std::string path = join("inputs", name) + ".type";
  TRY_ASSIGN(const std::string word, known_word(source, *type, "inputs.*.type", path));
  return input_type_from(word);
}

Result<std::optional<InputMode>> read_data_mode(const Source& source, const YamlNode& node,
                                                const std::string& name) {
  const YamlNode* mode = scalar_in(node, "mode");
  if (mode == nullptr) return std::optional<InputMode>();
  const std::string path = join("inputs", name) + ".mode";
  TRY_ASSIGN(const std::string word, known_word(source, *mode, "inputs.*.mode", path));
  return input_mode_from(word);
}

Status read_data(const Source& source, const YamlNode& node, const Place& place,
                 const DataTraits& traits, ReadInputs& out) {
  return InputReader(source, node, traits, out).read(place);
}

ReadInputs read_inputs(const Source& source, const YamlNode& node, Faults& faults) {
  ReadInputs inputs;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.kind != YamlNode::Kind::mapping) {
      inputs.literals[entry.key] = literal_text(entry.value);
      continue;
    }
    if (faults.is_faulty(join("inputs", entry.key))) continue;
    if (const Status read = read_data(source, entry.value, entry.place, {entry.key}, inputs);
        !read) {
      faults.add(entry.place, read);
      faults.mark_faulty(join("inputs", entry.key));
    }
  }
  return inputs;
}

Status find_data(const Source& source, LocalData& local, DataInput& input) {
  if (!local.url.empty()) return {};
  local.path = absolute_path(source.of(local.place).name, local.path);
  TRY(check_is_own_file(source, local.place, local.path));
  if (input.mode == InputMode::direct) {
    input.address = local.path;
    return {};
  }
  const Status good = check_files(local.path, input.type, input.file);
  if (!good)
    return source.error(local.place,
                        fmt::format("'inputs.{}.path': {}", local.name, good.error().message),
                        good.error().code);
  return {};
}

}  // namespace lockstep::spec
