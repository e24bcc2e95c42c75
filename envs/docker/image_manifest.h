#pragma once
// The manifest of an archive of an image, and which of its files are the image's.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::envs {

inline constexpr std::string_view kManifest = "manifest.json";
inline constexpr std::string_view kIndex = "index.json";
inline constexpr std::string_view kLayout = "oci-layout";
inline constexpr std::string_view kBlobs = "blobs/sha256/";

Error broken(std::string_view why);

bool is_hex(std::string_view text);

bool is_metadata(std::string_view name);

// Whether a file of a known name is content of the image.
bool is_content(std::string_view name);

struct Manifest {
  std::string config;
  std::vector<std::string> layers;
};

Result<Manifest> manifest_from(std::string_view text);

// The text of a manifest without RepoTags: only a node's own users name an image, never the sender.
std::string text_of(const Manifest& manifest);

Result<std::string> index_without_names(std::string_view text);

}  // namespace lockstep::envs
