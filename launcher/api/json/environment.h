#pragma once
// Environments as JSON: that of a job, a node's report of one, and registered ones.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/domain/environment/definition.h"
#include "common/domain/messages/views.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// A virtual environment's packages are given by their digest alone, to keep a job's record short.
Json to_json(const EnvironmentSpec& environment);
Json to_json(const EnvironmentReport& report);
// With the keys of an environment file, so that `environment create` accepts the output.
Json to_json(const EnvironmentView& view);
Json to_json(const std::vector<EnvironmentView>& views);
// The job's environment, and how far each node of the newest attempt has prepared it; null if the
// job has none.
Json explained_environment(const JobView& job);

// The number of packages that a lock file names, by platform; "all" if it has only noarch packages.
std::map<std::string, std::size_t> locked_counts(const CondaEnvironment& conda);

}  // namespace lockstep::api
