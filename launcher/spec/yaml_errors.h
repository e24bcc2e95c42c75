#pragma once
// What yaml-cpp refuses, in words for who wrote the file: which line, what it lacks, what to write.

#include <string>

#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// `problem`: yaml-cpp's own words (yaml-cpp/exceptions.h), found at `place`.
Error syntax_error(const Source& source, const Place& place, const std::string& problem);

}  // namespace lockstep::spec
