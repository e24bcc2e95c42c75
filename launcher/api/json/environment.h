#pragma once
// Environments as JSON: that of a job, a node's report of one, and registered ones.

#include <map>
#include <string>

#include "common/domain/environment/definition.h"
#include "common/domain/messages/views.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

// The environment of a job, and how far each node of the newest attempt has prepared it.
struct ExplainedEnvironment {
  const EnvironmentSpec* environment = &none_of<EnvironmentSpec>();
  const std::vector<AttemptView>* attempts = &none_of<std::vector<AttemptView>>();
};

// A virtual environment's packages are given by their digest alone, to keep a job's record short.
void keys(const EnvironmentSpec& environment, See& see);
void keys(const EnvironmentReport& report, See& see);
// With the keys of an environment file, so that `environment create` accepts the output.
void keys(const EnvironmentView& view, See& see);
void keys(const ExplainedEnvironment& explained, See& see);

// The number of packages that a lock file names, by platform; "all" if it has only noarch packages.
std::map<std::string, std::size_t> locked_counts(const CondaEnvironment& conda);

}  // namespace lockstep::api
