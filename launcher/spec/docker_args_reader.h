#pragma once
// What a job file says about its containers beside their image: `resources.docker_args`, and that
// it counts for nothing where there is none. Which words are possible is docker_args.h's to say.

#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job_spec.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// One text, split as a shell does, or a list of words.
Result<std::vector<std::string>> read_docker_args(const Source& source, const YamlNode& node);

// The keys that are set and that only a container heeds, of a job without one.
std::vector<std::string_view> keys_without_container(const JobSpec& spec);
// A note on one of them.
std::string ignored(std::string_view key);

}  // namespace lockstep::spec
