#include "launcher/gateway/mlflow/answer.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "launcher/gateway/mlflow/experiment_id.h"

namespace lockstep::mlflow {

namespace {

using Json = nlohmann::json;
using metrics::FoundRun;
using metrics::LoggedPoint;
using metrics::MetricSummary;
using metrics::Point;
using metrics::RunInfo;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t milliseconds_of(Instant time) { return time.ns / 1'000'000; }

// As protobuf's JSON has them.
Json real(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json metric(const std::string& name, const Point& point) {
  return {{"key", name},
          {"value", real(point.value)},
          {"timestamp", milliseconds_of(point.time)},
          {"step", point.step}};
}

Json pairs(const std::map<std::string, std::string>& texts) {
  Json list = Json::array();
  for (const auto& [key, value] : texts) list.push_back({{"key", key}, {"value", value}});
  return list;
}

Json description(const RunInfo& info) {
  const Instant started = info.started;
  Json json = {{"run_id", info.run.value},
               {"run_uuid", info.run.value},
               {"run_name", info.title.empty() ? info.run.value : info.title},
               {"experiment_id", experiment_id_of(info.experiment)},
               {"user_id", info.owner},
               {"status", metrics::to_string(info.status)},
               {"start_time", milliseconds_of(started)},
               {"artifact_uri", artifact_uri_of(info.run)},
               {"lifecycle_stage", info.deleted ? "deleted" : "active"}};
  if (info.ended.ns > 0) json["end_time"] = milliseconds_of(info.ended);
  return json;
}

// Clients look for the name, the user and the parent among the tags.
Json run(const FoundRun& found) {
  Json values = Json::array();
  for (const MetricSummary& each : found.data.metrics)
    values.push_back(metric(each.name, each.last));
  std::map<std::string, std::string> tags = found.data.tags;
  tags.emplace("mlflow.runName",
               found.info.title.empty() ? found.info.run.value : found.info.title);
  tags.emplace("mlflow.user", found.info.owner);
  if (metrics::is_inside_job(found.info.run))
    tags.emplace("mlflow.parentRunId", metrics::job_of(found.info.run).value);
  return {{"info", description(found.info)},
          {"data",
           {{"metrics", std::move(values)},
            {"params", pairs(found.data.params)},
            {"tags", pairs(tags)}}},
          {"inputs", Json::object()}};
}

Json with_next(Json json, const std::string& next) {
  if (!next.empty()) json["next_page_token"] = next;
  return json;
}

Json experiment(const Experiment& each) {
  return {{"experiment_id", each.id},
          {"name", each.name},
          {"artifact_location", "mlflow-artifacts:/"},
          {"lifecycle_stage", each.deleted ? "deleted" : "active"}};
}

}  // namespace

std::string artifact_uri_of(const metrics::RunId& run) { return "mlflow-artifacts:/" + run.value; }

std::string experiment_json(const Experiment& one) {
  return text_of({{"experiment", experiment(one)}});
}

std::string created_experiment_json(const std::string& id) {
  return text_of({{"experiment_id", id}});
}

std::string experiments_json(const std::vector<Experiment>& experiments, const std::string& next) {
  Json list = Json::array();
  for (const Experiment& each : experiments) list.push_back(experiment(each));
  return text_of(with_next({{"experiments", std::move(list)}}, next));
}

std::string run_json(const FoundRun& found) { return text_of({{"run", run(found)}}); }

std::string run_info_json(const RunInfo& info) {
  return text_of({{"run_info", description(info)}});
}

std::string runs_json(const std::vector<FoundRun>& runs, const std::string& next) {
  Json list = Json::array();
  for (const FoundRun& each : runs) list.push_back(run(each));
  return text_of(with_next({{"runs", std::move(list)}}, next));
}

std::string history_json(const std::string& name, const std::vector<LoggedPoint>& points,
                         const std::string& next) {
  Json list = Json::array();
  for (const LoggedPoint& each : points) list.push_back(metric(name, each.point));
  return text_of(with_next({{"metrics", std::move(list)}}, next));
}

std::string artifacts_json(const metrics::RunId& run, const std::vector<Artifact>& artifacts,
                           const std::string& next) {
  Json files = Json::array();
  for (const Artifact& each : artifacts) {
    Json file = {{"path", each.path}, {"is_dir", each.is_folder}};
    if (!each.is_folder) file["file_size"] = each.size;
    files.push_back(std::move(file));
  }
  return text_of(
      with_next({{"root_uri", artifact_uri_of(run)}, {"files", std::move(files)}}, next));
}

std::string done_json() { return "{}"; }

std::string_view error_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::conflict:  // a param that has another value: clients know it by this word
      return "INVALID_PARAMETER_VALUE";
    case ErrorCode::not_found: return "RESOURCE_DOES_NOT_EXIST";
    case ErrorCode::already_exists: return "RESOURCE_ALREADY_EXISTS";
    case ErrorCode::permission_denied: return "PERMISSION_DENIED";
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded: return "TEMPORARILY_UNAVAILABLE";
    case ErrorCode::resource_exhausted: return "RESOURCE_LIMIT_EXCEEDED";
    case ErrorCode::unsupported: return "NOT_IMPLEMENTED";
    case ErrorCode::unsatisfiable: return "INVALID_STATE";
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::internal: return "INTERNAL_ERROR";
  }
  return "INTERNAL_ERROR";
}

// Clients try again after 429 and 5xx, for minutes. A limit that was reached stays reached, so it
// is none of these.
int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::conflict:
    case ErrorCode::already_exists:
    case ErrorCode::resource_exhausted:
    case ErrorCode::unsatisfiable: return 400;
    case ErrorCode::not_found: return 404;
    case ErrorCode::permission_denied: return 403;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded: return 503;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::corrupt:
    case ErrorCode::io:
    case ErrorCode::internal: return 500;
  }
  return 500;
}

http::Response error_response(const Error& error) {
  return http::json_response(
      status_of(error.code),
      text_of({{"error_code", error_code_of(error.code)}, {"message", error.message}}));
}

}  // namespace lockstep::mlflow
