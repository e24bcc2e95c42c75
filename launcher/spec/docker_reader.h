#pragma once
// The container's part of a definition: `image`, or `build` with its folder, which is only named
// here.

#include <optional>
#include <string>

#include "common/domain/environment.h"
#include "launcher/spec/build_folder.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

struct ReadDocker {
  DockerEnvironment docker;          // without packages, and without the digest of a context
  std::optional<BuildFolder> build;  // of which that is
};

// Whether a definition is of a container.
bool is_docker(const YamlNode& mapping);

// `section` as in environment_reader.h. What cannot stand beside an image is refused by name.
Result<ReadDocker> read_docker(const Source& source, const YamlNode& mapping,
                               const std::string& section);

}  // namespace lockstep::spec
