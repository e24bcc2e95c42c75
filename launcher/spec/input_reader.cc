#include "launcher/spec/input_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "common/base/quoted_name.h"
#include "common/domain/data_reference.h"
#include "launcher/spec/job_shapes.h"
#include "launcher/spec/known_word.h"

namespace lockstep::spec {
namespace {

namespace fs = std::filesystem;

bool is_web(std::string_view path) {
  return path.starts_with("http://") || path.starts_with("https://");
}

// What Azure takes and we do not, yet.
bool is_of_cloud(std::string_view path) {
  static constexpr std::array kLeads = {"wasb://", "wasbs://", "abfs://", "abfss://",
                                        "adl://",  "s3://",    "gs://"};
  return std::any_of(kLeads.begin(), kLeads.end(),
                     [&](std::string_view lead) { return path.starts_with(lead); });
}

// "https://example.com/sets/iris.csv?raw=1" -> "iris.csv".
std::string file_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const auto host = url.find("://") + 3;
  const auto slash = url.rfind('/');
  const std::string name(slash == std::string_view::npos || slash < host ? ""
                                                                         : url.substr(slash + 1));
  const bool is_name = !name.empty() && name != "." && name != ".." && name.size() <= 255;
  return is_name ? name : "data";
}

// "file:./data", "file:///data" -> "./data", "/data".
std::string without_file(std::string_view path) {
  constexpr std::string_view kFile = "file:";
  if (!path.starts_with(kFile)) return std::string(path);
  path.remove_prefix(kFile.size());
  if (path.starts_with("//")) path.remove_prefix(2);
  return std::string(path);
}

class InputReader {
 public:
  InputReader(const Source& source, const YamlEntry& entry, ReadInputs& out)
      : source_(source), entry_(entry), path_(join("inputs", entry.key)), out_(out) {}

  Status read() {
    DataInput input;
    input.name = entry_.key;
    if (const YamlNode* type = at("type")) {
      TRY_ASSIGN(const std::string word, word_of(*type, "type"));
      input.type = input_type_from(word).value_or(input.type);
    }
    if (const YamlNode* mode = at("mode")) {
      TRY_ASSIGN(const std::string word, word_of(*mode, "mode"));
      input.mode = input_mode_from(word).value_or(input.mode);
    }
    const YamlNode* path = at("path");
    if (path == nullptr || path->text.empty())
      return source_.error(
          path == nullptr ? entry_.place : path->place,
          fmt::format("'{0}' needs a path: write {0}.path: ./data, or a plain value for a literal",
                      path_));
    TRY(place(*path, input));
    out_.data.push_back(std::move(input));
    return {};
  }

 private:
  const YamlNode* at(std::string_view key) const {
    const YamlEntry* found = entry_.value.find(key);
    return found == nullptr || found->value.kind != YamlNode::Kind::scalar ? nullptr
                                                                           : &found->value;
  }
  Result<std::string> word_of(const YamlNode& node, std::string_view key) const {
    return known_word(source_, node, join("inputs.*", key), join(path_, key));
  }
  Error not_supported(const YamlNode& path, std::string_view instead) const {
    return source_.error(path.place,
                         fmt::format("'{}.path': {} is not supported yet; {}", path_,
                                     quoted_name(path.text), instead),
                         ErrorCode::unsupported);
  }
  // What the launcher has; it says whether that is there.
  Status take_reference(const YamlNode& path, const DataInput& input) const {
    const auto reference = parse_data_reference(path.text);
    if (!reference)
      return source_.error(path.place,
                           fmt::format("'{}.path': {}", path_, reference.error().message),
                           reference.error().code);
    if (std::holds_alternative<AssetReference>(**reference))
      return not_supported(path, "name a local file or folder");
    if (input.mode == InputMode::direct)
      return source_.error(path.place,
                           fmt::format("'{}': files of the launcher have no address; write mode: "
                                       "ro_mount or download",
                                       path_));
    return {};
  }
  // Fetched when the job is submitted, but for a direct input.
  Status take_web(const YamlNode& path, DataInput& input) {
    if (input.mode == InputMode::direct) {
      input.address = path.text;
      return {};
    }
    if (input.type != InputType::uri_file && input.type != InputType::custom_model)
      return source_.error(
          path.place,
          fmt::format("'{}.path': an address names one file; write type: uri_file", path_));
    input.file = file_of(path.text);
    out_.local.push_back({input.name, "", path.place, source_.where(path.place), path.text});
    return {};
  }
  Status place(const YamlNode& path, DataInput& input) {
    input.source = path.text;
    if (path.text.starts_with("azureml:")) return take_reference(path, input);
    if (is_of_cloud(path.text)) return not_supported(path, "name a local file or folder");
    if (is_web(path.text)) return take_web(path, input);
    const std::string local = without_file(path.text);
    if (local.find("://") != std::string::npos)
      return not_supported(path, "name a local file or folder");
    if (local.empty())
      return source_.error(path.place, fmt::format("'{}.path': names no file", path_));
    if (input.mode == InputMode::direct) input.address = local;
    out_.local.push_back({input.name, local, path.place, source_.where(path.place), ""});
    return {};
  }

  const Source& source_;
  const YamlEntry& entry_;
  const std::string path_;
  ReadInputs& out_;
};

// The file that makes a folder what its type says; "": none.
std::string_view mark_of(InputType type) {
  if (type == InputType::mltable) return "MLTable";
  if (type == InputType::mlflow_model) return "MLmodel";
  return "";
}

Result<bool> is_folder(const fs::path& path, const std::string& shown) {
  std::error_code failure;
  const fs::file_status status = fs::status(path, failure);
  if (fs::is_directory(status)) return true;
  if (fs::is_regular_file(status)) return false;
  if (fs::exists(status))
    return make_error(ErrorCode::invalid_argument, shown + " is neither a file nor a folder");
  if (failure && failure != std::errc::no_such_file_or_directory)
    return make_error(ErrorCode::io, fmt::format("cannot read {}: {}", shown, failure.message()));
  return make_error(ErrorCode::not_found, shown + " does not exist");
}

Status check_kind(const std::string& path, DataInput& input) {
  const std::string shown = quoted_name(path);
  TRY_ASSIGN(const bool folder, is_folder(path, shown));
  const auto wrong = [&](const std::string& message) {
    return make_error(ErrorCode::invalid_argument, message);
  };
  if (folder && input.type == InputType::uri_file)
    return wrong(shown + " is a folder; write type: uri_folder, or name a file");
  const bool takes_file =
      input.type == InputType::uri_file || input.type == InputType::custom_model;
  if (!folder && !takes_file)
    return wrong(shown + " is a file; write type: uri_file, or name a folder");
  const std::string_view mark = mark_of(input.type);
  std::error_code failure;
  if (!mark.empty() && !fs::exists(fs::path(path) / mark, failure))
    return wrong(
        fmt::format("{} has no file {}, so it is no {}", shown, mark, to_string(input.type)));
  if (!folder) input.file = fs::path(path).filename().string();
  return {};
}

}  // namespace

ReadInputs read_inputs(const Source& source, const YamlNode& node, Faults& faults) {
  ReadInputs inputs;
  for (const YamlEntry& entry : node.entries) {
    if (entry.value.kind != YamlNode::Kind::mapping) {
      inputs.literals[entry.key] = entry.value.text;
      continue;
    }
    if (faults.is_spoilt(join("inputs", entry.key))) continue;
    if (const Status read = InputReader(source, entry, inputs).read(); !read) {
      faults.add(entry.place, read);
      faults.spoil(join("inputs", entry.key));
    }
  }
  return inputs;
}

Status find_data(const Source& source, LocalData& local, DataInput& input) {
  if (!local.url.empty()) return {};
  std::error_code failure;
  const fs::path path =
      fs::absolute(fs::path(source.name).parent_path() / local.path, failure).lexically_normal();
  local.path = path.string();
  while (local.path.size() > 1 && local.path.back() == '/') local.path.pop_back();
  if (input.mode == InputMode::direct) {
    input.address = local.path;
    return {};
  }
  if (const Status good = check_kind(local.path, input); !good)
    return source.error(local.place,
                        fmt::format("'inputs.{}.path': {}", local.name, good.error().message),
                        good.error().code);
  return {};
}

}  // namespace lockstep::spec
