#include "common/domain/data/asset.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/domain/data/data_reference.h"
#include "common/domain/environment/definition.h"

namespace lockstep {
namespace {

bool is_a_file(InputType type) { return type == InputType::uri_file; }
bool may_be_a_file(InputType type) { return is_a_file(type) || type == InputType::custom_model; }

Error invalid_asset(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

Status validate_path(const std::string& path) {
  if (path.size() > kMaxInputAddressBytes)
    return invalid_asset(fmt::format("path: has more than {} bytes", kMaxInputAddressBytes));
  for (const unsigned char c : path)
    if (c < 0x20 || c == 0x7f) return invalid_asset("path: has a control character");
  return {};
}

Status validate_files(const RegisteredAsset& asset) {
  if (is_a_file(asset.type) && asset.tree && asset.file.empty())
    return invalid_asset("path: a uri_file is one file, and this is a folder");
  if (!may_be_a_file(asset.type) && !asset.file.empty())
    return invalid_asset(
        fmt::format("path: a {} is a folder, and this is a file", to_string(asset.type)));
  if (!is_file_name(asset.file))
    return invalid_asset("path: '" + asset.file + "' is not a file's name");
  return {};
}

// The component's path below the tree; each part of it must be a name.
Status validate_component(const RegisteredAsset& asset) {
  if (asset.type != InputType::uri_folder) return invalid_asset("type: a component has no other");
  std::string_view rest = asset.file;
  bool good = !rest.empty();
  while (good && !rest.empty()) {
    const auto slash = std::min(rest.find('/'), rest.size());
    good =
        slash > 0 && slash + 1 != rest.size() && is_file_name(std::string(rest.substr(0, slash)));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  if (good) return {};
  return invalid_asset("file: '" + asset.file + "' is not the path of a component's file");
}

}  // namespace

Status validate_texts(const std::string& description,
                      const std::map<std::string, std::string>& tags) {
  if (description.size() > kMaxAssetDescriptionBytes)
    return invalid_asset(fmt::format("description: has {} bytes; at most {} are possible",
                                     description.size(), kMaxAssetDescriptionBytes));
  if (tags.size() > kMaxAssetTags)
    return invalid_asset(
        fmt::format("tags: there are {}; at most {} are possible", tags.size(), kMaxAssetTags));
  for (const auto& [key, value] : tags)
    if (key.empty() || key.size() > kMaxAssetTagBytes || value.size() > kMaxAssetTagBytes)
      return invalid_asset(
          fmt::format("tags: a key has 1 to {0} bytes, and a value at most {0}; '{1}' has others",
                      kMaxAssetTagBytes, head(key, 100)));
  return {};
}

Word describe(AssetKind kind) {
  switch (kind) {
    case AssetKind::data: return {1, "data"};
    case AssetKind::model: return {2, "model"};
    case AssetKind::component: return {3, "component"};
  }
  return {};
}
std::string_view to_string(AssetKind kind) { return describe(kind).word; }

std::string_view noun_of(AssetKind kind) {
  return kind == AssetKind::data ? "data asset" : to_string(kind);
}

Word describe(ComponentType type) {
  switch (type) {
    case ComponentType::command: return {1, "command"};
    case ComponentType::pipeline: return {2, "pipeline"};
  }
  return {};
}
std::string_view to_string(ComponentType type) { return describe(type).word; }

Word describe(ArchivedToo archived) {
  switch (archived) {
    case ArchivedToo::no: return {1, "no"};
    case ArchivedToo::yes: return {2, "yes"};
    case ArchivedToo::only: return {3, "only"};
  }
  return {};
}

AssetKind kind_of(InputType type) {
  switch (type) {
    case InputType::uri_folder:
    case InputType::uri_file:
    case InputType::mltable: return AssetKind::data;
    case InputType::mlflow_model:
    case InputType::custom_model:
    case InputType::triton_model: return AssetKind::model;
  }
  return AssetKind::data;
}

std::string types_of(AssetKind kind) {
  switch (kind) {
    case AssetKind::data: return "uri_file, uri_folder or mltable";
    case AssetKind::model: return "custom_model, mlflow_model or triton_model";
    case AssetKind::component: return "command or pipeline";
  }
  return "";
}

AssetKind kind_of(const RegisteredAsset& asset) {
  return asset.component ? AssetKind::component : kind_of(asset.type);
}

std::string_view type_word(const RegisteredAsset& asset) {
  return asset.component ? to_string(*asset.component) : to_string(asset.type);
}

RegisteredAsset asset_of(const OutputAsset& output) {
  RegisteredAsset asset;
  asset.name = output.name;
  asset.version = output.version;
  asset.type = output.type;
  return asset;
}

Status validate(const RegisteredAsset& asset) {
  TRY(validate_environment_name("name", asset.name));
  if (!asset.version.empty()) TRY(validate_environment_name("version", asset.version));
  if (asset.version == "latest")
    return invalid_asset("version: 'latest' stands for the newest version; choose another");
  TRY(validate_path(asset.path));
  TRY(validate_path(asset.file));
  TRY(asset.component ? validate_component(asset) : validate_files(asset));
  return validate_texts(asset.description, asset.tags);
}

std::string reference_of(const RegisteredAsset& asset) { return asset.name + ":" + asset.version; }

JobId maker_of(const RegisteredAsset& asset) {
  const auto parsed = parse_data_reference(asset.path);
  if (!parsed || !*parsed) return {};
  const auto* output = std::get_if<JobOutputReference>(&**parsed);
  return output == nullptr ? JobId() : output->job;
}

}  // namespace lockstep
