#pragma once
// The operator's map of environments: definitions for names and addresses that nobody registered
// here, such as those of Azure's registries.
//
//   azureml://registries/azureml/environments/sklearn-1.5/labels/latest: sklearn.yml
//   tools: {requirements: [numpy==1.26.4]}
//
// A path is relative to the map's folder. Only the entry that is asked for is checked.

#include <optional>
#include <string>
#include <vector>

#include "launcher/spec/environment_reader.h"

namespace lockstep::spec {

// The entry of the first of `keys` that the map at `path` has; nullopt: it has none of them, or
// there is no map. Errors begin with FILE:LINE:COLUMN, in the map or in the file that it names.
Result<std::optional<RegisteredEnvironment>> find_in_map(const std::string& path,
                                                         const std::vector<std::string>& keys,
                                                         const ReadText& read_text);

}  // namespace lockstep::spec
