#pragma once
// The shape of a job file: which keys there are, and of what kind the value of each is. What the
// values mean is for job_reader.cc. Errors begin as Source::error has them, and name the key.

#include <optional>
#include <string>
#include <string_view>

#include "launcher/spec/faults.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

inline constexpr std::string_view kMemoryKey = "lockstep.resources.memory";

// Adds all that is wrong, and takes it out of the tree: what is left has the shape that the table
// says, and can be read.
void check_shapes(const Source& source, YamlNode& root, Faults& faults);

// azure-ai-ml writes keys that mean nothing in this job: `properties: {}`, `services: null`.
bool is_empty(const YamlNode& node);

// unsupported: "WHAT is not supported yet".
Error not_yet(const Source& source, const Place& place, std::string_view what);

// A key's path in its file: "resources.shm_size"; the key itself at the top.
std::string join(std::string_view section, std::string_view key);

std::optional<int> to_whole_number(const std::string& text);

}  // namespace lockstep::spec
