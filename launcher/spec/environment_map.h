#pragma once
// The operator's map of environments: what names and addresses stand for here that nobody
// registered, such as those of Azure's registries.
//
//   azureml://registries/azureml/environments/sklearn-1.5/labels/latest: sklearn.yml
//   tools: {requirements: [numpy==1.26.4]}
//
// A path is relative to the map. Only the entry that is asked for is looked at.

#include <optional>
#include <string>
#include <vector>

#include "launcher/spec/environment_reader.h"

namespace lockstep::spec {

// The first of `keys` that the map at `path` has; nullopt: it has none, or there is no map. Errors
// begin with the map's FILE:LINE:COLUMN, or that of the file that it names.
Result<std::optional<RegisteredEnvironment>> find_in_map(const std::string& path,
                                                         const std::vector<std::string>& keys,
                                                         const ReadText& read_text);

}  // namespace lockstep::spec
