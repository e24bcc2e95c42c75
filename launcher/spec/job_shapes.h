#pragma once
// The shape of a job file: which keys there are, and of what kind the value of each is. What the
// values mean is for job_reader.cc. Errors begin as Source::error has them, and name the key.

#include <optional>
#include <string>
#include <string_view>

#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

inline constexpr std::string_view kMemoryKey = "lockstep.resources.memory";

Status check_shapes(const Source& source, const YamlNode& root);

// unsupported: "WHAT is not supported yet".
Error not_yet(const Source& source, const Place& place, std::string_view what);

// A key's path in its file: "resources.shm_size"; the key itself at the top.
std::string join(std::string_view section, std::string_view key);

std::optional<int> to_whole_number(const std::string& text);

}  // namespace lockstep::spec
