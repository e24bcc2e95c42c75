#pragma once
// What `job create --dry-run` prints: the steps that a job file would run, in their order, and what
// each waits for. Pure.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "launcher/files/job_file.h"

namespace lockstep::cli {

using Json = nlohmann::ordered_json;

// As docs/schema/plan.json says. A command job is one step. `file`: as it was given.
Json plan_json(const std::string& file, const spec::JobFile& job);
std::string plan_text(const spec::JobFile& job);

}  // namespace lockstep::cli
