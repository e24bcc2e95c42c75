#pragma once
// Jobs as JSON. A job is shaped like `az ml job show`: Azure's keys first, with Azure's meaning;
// then what a job file says under `lockstep`; then how it goes (reason, exit_code, report,
// attempts).

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/domain/client_messages.h"
#include "common/domain/views.h"

namespace lockstep::api {

using Json = nlohmann::ordered_json;

Json to_json(const JobView& job);
Json to_json(const std::vector<JobView>& jobs);
Json to_json(const ExplainView& explain);
Json to_json(const ExitReport& report);
Json to_json(const JobEvent& event);
Json to_json(const std::vector<JobEvent>& events);
Json to_json(const JobsDeleted& deleted);
Json to_json(const Done& done);
// `file`: as who asks calls it.
Json to_json(const std::string& file, const JobFileChecked& checked);

// "output 'model' (uri_folder) was never written: …", for each named output of a job that
// Completed; "keep '*.pt' matched no file …", for each of its patterns.
std::vector<std::string> unwritten_outputs(const JobView& job);

}  // namespace lockstep::api
