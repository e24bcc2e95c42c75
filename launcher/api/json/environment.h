#pragma once
// Environments as JSON: as a job has one, as a node reports it, and as it is registered.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/domain/environment.h"
#include "common/domain/views.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// Of packages of a virtual environment the digest alone: a job's record stays short.
Json to_json(const EnvironmentSpec& environment);
Json to_json(const EnvironmentReport& report);
// With the keys of an environment file: `environment create` takes what is shown.
Json to_json(const EnvironmentView& view);
Json to_json(const std::vector<EnvironmentView>& views);
// A job's, and how far the nodes of its newest attempt are with it; null: the job has none.
Json explained_environment(const JobView& job);

// Packages that a lock file names, for each platform; "all" for those of noarch alone.
std::map<std::string, std::size_t> locked_counts(const CondaEnvironment& conda);

}  // namespace lockstep::api
