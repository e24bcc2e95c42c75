#pragma once
// Answers to MLflow's clients: bodies of JSON, and errors as they understand them. A text with
// bytes that are no UTF-8 is sent with replacement characters.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/runs/run_data.h"
#include "launcher/gateway/http/message/response.h"

namespace lockstep::mlflow {

struct Experiment {
  std::string id, name;
  bool deleted = false;
};

std::string experiment_json(const Experiment& experiment);
std::string created_experiment_json(const std::string& id);
std::string experiments_json(const std::vector<Experiment>& experiments, const std::string& next);

// Where clients send artifacts: "mlflow-artifacts:/<run>".
std::string artifact_uri_of(const metrics::RunId& run);

std::string run_json(const metrics::FoundRun& run);
// Of runs/update, which answers with the run's description alone.
std::string run_info_json(const metrics::RunInfo& info);
std::string runs_json(const std::vector<metrics::FoundRun>& runs, const std::string& next);
// `metric` was asked for.
std::string history_json(const std::string& metric, const std::vector<metrics::LoggedPoint>& points,
                         const std::string& next);

struct Artifact {
  std::string path;  // from the top of the run's artifacts
  bool is_folder = false;
  std::uint64_t size = 0;
};
std::string artifacts_json(const metrics::RunId& run, const std::vector<Artifact>& artifacts,
                           const std::string& next);

// "{}", which all answer that only change something.
std::string done_json();

// A failure as clients tell it to people; what can pass is one that they try again. The message is
// the error's.
http::Response error_response(const Error& error);
// "RESOURCE_DOES_NOT_EXIST", …
std::string_view error_code_of(ErrorCode code);
int status_of(ErrorCode code);

}  // namespace lockstep::mlflow
