#pragma once
// Jobs as JSON. A job is shaped like `az ml job show`: Azure's keys first, with Azure's meaning;
// then the job file's `lockstep` keys; then the job's progress (reason, exit_code, report,
// attempts).

#include <string>
#include <vector>

#include "common/domain/messages/client_protocol.h"
#include "common/domain/messages/views.h"
#include "launcher/api/json/keys/keys.h"

namespace lockstep::api {

struct CheckedFile {
  std::string file;  // the name that the client uses for it
  JobFileChecked checked;
};

void keys(const JobView& job, See& see);
void keys(const ExplainView& explain, See& see);
void keys(const ExitReport& report, See& see);
void keys(const NodeClock& clock, See& see);
void keys(const JobEvent& event, See& see);
void keys(const JobsDeleted& deleted, See& see);
void keys(const Done& done, See& see);
void keys(const CheckedFile& file, See& see);
// Without the states of ranks: a list does not know how they ended, see ViewDetail.
Json to_json(const std::vector<JobView>& jobs);

// Warnings about a job that Completed: "output 'model' (uri_folder) was never written: …" for each
// named output that no rank wrote, "keep '*.pt' matched no file …" for each such pattern.
std::vector<std::string> unwritten_outputs(const JobView& job);

}  // namespace lockstep::api
