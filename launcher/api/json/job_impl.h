#pragma once
// One attempt of a job, as JSON.

#include <string>

#include "launcher/api/json/job.h"

namespace lockstep::api {

Json attempt_json(const std::string& job, const AttemptView& attempt);

}  // namespace lockstep::api
