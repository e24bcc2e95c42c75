#pragma once
// The `path` of an output: a place in a datastore that it is written to.

#include <string>

#include "common/base/result.h"
#include "launcher/spec/yaml_tree.h"

namespace lockstep::spec {

// The path, with ${{name}} and ${{output_name}} left to the node. `shown`: its key in the file,
// "outputs.model.path".
Result<std::string> read_output_path(const Source& source, const YamlNode& node,
                                     const std::string& shown);

}  // namespace lockstep::spec
