#pragma once
// `lockstep.keep`: patterns of files that come back beside the outputs (common/domain/job/keep.h).

#include <string>
#include <vector>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Reads a list of patterns, or one pattern. Errors have the pattern's place.
Result<std::vector<std::string>> read_keep(const Source& source, const YamlNode& node);

}  // namespace lockstep::spec
