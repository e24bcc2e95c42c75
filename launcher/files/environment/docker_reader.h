#pragma once
// Reads the container part of a definition: `image`, or `build` with its folder. The folder is only
// named here, not read.

#include <optional>
#include <string>

#include "common/domain/environment/definition.h"
#include "launcher/files/environment/build_folder.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

struct ReadDocker {
  DockerEnvironment docker;          // without packages, and without the build context's digest
  std::optional<BuildFolder> build;  // the folder that is the build context
};

// Whether a definition describes a container.
bool is_docker(const YamlNode& mapping);

// Reads the container part. `section` as in environment_reader.h. Keys that do not go with an image
// are refused by name.
Result<ReadDocker> read_docker(const Source& source, const YamlNode& mapping,
                               const std::string& section);

}  // namespace lockstep::spec
