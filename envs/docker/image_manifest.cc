#include "envs/docker/image_manifest.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/digest.h"

namespace lockstep::envs {

namespace {

using nlohmann::json;
constexpr std::size_t kMaxLayers = 1'000;  // far more than docker's limit of 127

}  // namespace

Error broken(std::string_view why) {
  return make_error(ErrorCode::corrupt, fmt::format("the image's archive is broken: {}", why));
}

bool is_hex(std::string_view text) { return Digest::from_hex(text).has_value(); }

bool is_metadata(std::string_view name) {
  return name == kManifest || name == kIndex || name == kLayout;
}

bool is_content(std::string_view name) {
  constexpr std::string_view kLayer = "/layer.tar";
  if (name.starts_with(kBlobs)) return is_hex(name.substr(kBlobs.size()));
  for (const std::string_view ending :
       {kLayer, std::string_view(".json"), std::string_view(".tar")})
    if (name.ends_with(ending) && is_hex(name.substr(0, name.size() - ending.size()))) return true;
  return false;
}

Result<Manifest> manifest_from(std::string_view text) {
  try {
    const json all = json::parse(text);
    if (!all.is_array() || all.size() != 1) return broken("its manifest.json is not of one image");
    Manifest manifest{all[0].at("Config").get<std::string>(), {}};
    const json& layers = all[0].at("Layers");
    if (!layers.is_null()) manifest.layers = layers.get<std::vector<std::string>>();
    if (manifest.layers.size() > kMaxLayers) return broken("it has too many layers");
    if (!is_content(manifest.config))
      return broken(fmt::format("'{}' is not a valid name of a configuration", manifest.config));
    for (const std::string& layer : manifest.layers)
      if (!is_content(layer)) return broken(fmt::format("'{}' is not a valid layer", layer));
    return manifest;
  } catch (const json::exception& failure) {
    return broken(fmt::format("its manifest.json: {}", failure.what()));
  }
}

std::string text_of(const Manifest& manifest) {
  return json::array({{{"Config", manifest.config},
                       {"RepoTags", json::array()},
                       {"Layers", manifest.layers}}})
      .dump();
}

namespace {

// The fields of a descriptor that identify the image. Annotations only name it, and are left out.
Result<json> descriptor_from(const json& from) {
  const auto digest = from.at("digest").get<std::string>();
  constexpr std::string_view kSha256 = "sha256:";
  if (!digest.starts_with(kSha256) || !is_hex(std::string_view(digest).substr(kSha256.size())))
    return broken(fmt::format("'{}' is not a valid digest", digest));
  json kept{{"mediaType", from.at("mediaType").get<std::string>()},
            {"digest", digest},
            {"size", from.at("size").get<std::uint64_t>()}};
  if (from.contains("platform"))
    for (const char* key : {"architecture", "os", "variant"})
      if (from.at("platform").contains(key))
        kept["platform"][key] = from.at("platform").at(key).get<std::string>();
  return kept;
}

}  // namespace

Result<std::string> index_without_names(std::string_view text) {
  try {
    const json all = json::parse(text);
    json kept{{"schemaVersion", 2},
              {"mediaType", "application/vnd.oci.image.index.v1+json"},
              {"manifests", json::array()}};
    if (all.at("manifests").size() > kMaxLayers) return broken("its index.json is too long");
    for (const json& one : all.at("manifests")) {
      TRY_ASSIGN(json descriptor, descriptor_from(one));
      kept["manifests"].push_back(std::move(descriptor));
    }
    return kept.dump();
  } catch (const json::exception& failure) {
    return broken(fmt::format("its index.json: {}", failure.what()));
  }
}

}  // namespace lockstep::envs
