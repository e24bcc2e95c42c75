#pragma once
// The output of `job create --dry-run`: the steps that a job file would run, in their order, and
// what each waits for. Pure.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "launcher/files/job_file.h"

namespace lockstep::cli {

using Json = nlohmann::ordered_json;

// Makes the JSON of docs/schema/plan.json. A command job is one step. `file`: as it was given.
Json plan_json(const std::string& file, const spec::JobFile& job);
std::string plan_text(const spec::JobFile& job);

}  // namespace lockstep::cli
