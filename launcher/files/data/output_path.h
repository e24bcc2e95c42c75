#pragma once
// The `path` of an output: the place in a datastore to which it is written.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// The text in place of a datastore's name: the pipeline's default, otherwise the launcher's.
inline constexpr std::string_view kDefaultDatastore = "${{default_datastore}}";
bool names_default_datastore(std::string_view path);
// Puts the name into `path`.
std::string with_default_datastore(std::string path, std::string_view name);

// Reads a path. ${{name}} and ${{output_name}} stay for the node that writes the output, and
// kDefaultDatastore for the launcher. `shown`: the key in the file, "outputs.model.path".
Result<std::string> read_output_path(const Source& source, const YamlNode& node,
                                     const std::string& shown);

}  // namespace lockstep::spec
