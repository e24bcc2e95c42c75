#pragma once
// Jobs as JSON. A job is shaped like `az ml job show`: Azure's keys first, with Azure's meaning;
// then the job file's `lockstep` keys; then the job's progress (reason, exit_code, report,
// attempts).

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/views.h"

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
// `file`: the name that the client uses for the file.
Json to_json(const std::string& file, const JobFileChecked& checked);

// Warnings about a job that Completed: "output 'model' (uri_folder) was never written: …" for each
// named output that no rank wrote, "keep '*.pt' matched no file …" for each such pattern.
std::vector<std::string> unwritten_outputs(const JobView& job);

}  // namespace lockstep::api
