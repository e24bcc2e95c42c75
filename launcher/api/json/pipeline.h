#pragma once
// What only pipelines and their steps have, as JSON: the steps under `jobs`, keyed by their names
// as in a job file, and outputs with the files that all nodes wrote.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

// In the pipeline's order; null: the job is no pipeline, or the view is of a list.
Json steps_of(const JobView& job);
// The outputs of any job by name. Those that are merged have the keys digest, file and problems,
// and those of a pipeline the step that they come from.
Json outputs_of(const JobView& job);

}  // namespace lockstep::api
