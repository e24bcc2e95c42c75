#pragma once
// The `path` of an output: the place in a datastore to which it is written.

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// In place of a datastore's name: the pipeline's default, otherwise the launcher's.
inline constexpr std::string_view kDefaultDatastore = "${{default_datastore}}";
bool names_default_datastore(std::string_view path);
// `path` with the name in its place.
std::string with_default_datastore(std::string path, std::string_view name);

// The path, with ${{name}} and ${{output_name}} left to the one who writes there, and
// kDefaultDatastore to others. `shown`: its key in the file, "outputs.model.path".
Result<std::string> read_output_path(const Source& source, const YamlNode& node,
                                     const std::string& shown);

}  // namespace lockstep::spec
