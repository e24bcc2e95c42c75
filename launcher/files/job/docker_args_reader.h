#pragma once
// Reads a job file's `resources.docker_args`, and finds the keys that have no effect because the
// job has no container. common/domain/environment/docker_args.h decides which arguments are
// possible.

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/spec.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Reads the value: one text, which is split as a shell does it, or a list of arguments.
Result<std::vector<std::string>> read_docker_args(const Source& source, const YamlNode& node);

// The keys of a job without a container that only affect containers.
std::vector<std::string_view> keys_without_container(const JobSpec& spec);
// The note that such a key is ignored.
std::string ignored(std::string_view key);

}  // namespace lockstep::spec
