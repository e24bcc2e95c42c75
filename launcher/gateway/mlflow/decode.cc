#include "launcher/gateway/mlflow/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/domain/runs/batch_limits.h"
#include "launcher/gateway/mlflow/fields.h"

namespace lockstep::mlflow {

namespace {

using http::Method;
using Texts = std::map<std::string, std::string>;

constexpr std::size_t kMaxExperiments = 1'000;  // of one search
constexpr std::size_t kMaxOrderBy = 20;
constexpr std::size_t kMaxFilterBytes = 32u << 10;
constexpr std::size_t kMaxDatasets = 100;
constexpr std::size_t kMaxModelBytes = 256u << 10;
constexpr std::int64_t kPageOfRuns = 1'000, kMostRuns = 50'000;
constexpr std::int64_t kPageOfPoints = 25'000;
constexpr std::int64_t kPageOfArtifacts = 1'000;
constexpr const char* kParentTag = "mlflow.parentRunId";

Error wrong(std::string_view field, std::string_view why) {
  return make_error(ErrorCode::invalid_argument, fmt::format("{}: {}", field, why));
}

Result<RunId> run_in(const Fields& fields) {
  TRY_ASSIGN(std::string id, fields.text({"run_id", "run_uuid"}));
  RunId run(std::move(id));
  TRY(metrics::validate(run));
  return run;
}

// At most `most` of a page; clients go on with its token.
Result<Page> page_in(const Fields& fields, std::int64_t absent, std::int64_t most) {
  TRY_ASSIGN(const std::int64_t limit, fields.number("max_results", absent));
  if (limit < 1 || limit > most)
    return wrong("max_results", fmt::format("{} is not within 1 and {}", limit, most));
  TRY_ASSIGN(auto token, fields.optional_text({"page_token"}));
  Page page{static_cast<std::size_t>(limit), std::move(token).value_or("")};
  if (page.token.size() > kMaxPageTokenBytes) return wrong("page_token", "it is none of ours");
  return page;
}

Result<View> view_in(const Fields& fields, std::string_view name) {
  TRY_ASSIGN(const auto word, fields.optional_text({name}));
  if (!word || *word == "ACTIVE_ONLY") return View::active;
  if (*word == "DELETED_ONLY") return View::deleted;
  if (*word == "ALL") return View::all;
  return wrong(name,
               fmt::format("'{}' is not ACTIVE_ONLY, DELETED_ONLY or ALL", word->substr(0, 60)));
}

Result<Texts> texts_in(const Fields& fields, std::string_view name) {
  TRY_ASSIGN(const auto objects, fields.objects(name, metrics::kMaxBatchTexts));
  Texts texts;
  for (const Fields& object : objects) {
    TRY_ASSIGN(std::string key, object.text({"key"}));
    TRY_ASSIGN(auto value, object.optional_text({"value"}));
    const auto [place, is_new] = texts.emplace(std::move(key), std::move(value).value_or(""));
    if (!is_new) return wrong(name, fmt::format("'{}' is there twice", place->first));
  }
  return texts;
}

// ---- experiments --------------------------------------------------------------------------------

Result<Call> create_experiment(const Fields& fields) {
  TRY_ASSIGN(std::string name, fields.text({"name"}));
  if (name.empty()) return wrong("name", "an experiment needs a name");
  if (name.size() > metrics::kMaxMetricNameBytes)
    return wrong("name", fmt::format("it has {} bytes, and {} are possible", name.size(),
                                     metrics::kMaxMetricNameBytes));
  return Call(CreateExperiment{std::move(name)});
}

Result<Call> get_experiment(const Fields& fields) {
  TRY_ASSIGN(std::string id, fields.text({"experiment_id"}));
  return Call(GetExperiment{std::move(id)});
}

Result<Call> get_experiment_by_name(const Fields& fields) {
  TRY_ASSIGN(std::string name, fields.text({"experiment_name"}));
  return Call(GetExperimentByName{std::move(name)});
}

Result<Call> search_experiments(const Fields& fields) {
  SearchExperiments search;
  TRY_ASSIGN(search.view, view_in(fields, "view_type"));
  TRY_ASSIGN(search.page, page_in(fields, kPageOfRuns, kMostRuns));
  TRY_ASSIGN(const auto filter, fields.optional_text({"filter"}));
  if (filter && !filter->empty())
    return make_error(ErrorCode::unsupported,
                      "filter: experiments cannot be searched by a filter here; search their runs");
  return Call(std::move(search));
}

// ---- runs ---------------------------------------------------------------------------------------

Result<Call> create_run(const Fields& fields) {
  CreateRun create;
  TRY_ASSIGN(auto experiment, fields.optional_text({"experiment_id"}));
  create.experiment_id = std::move(experiment).value_or("");
  TRY_ASSIGN(auto name, fields.optional_text({"run_name"}));
  create.name = std::move(name).value_or("");
  TRY_ASSIGN(create.started, fields.time("start_time"));
  TRY_ASSIGN(create.tags, texts_in(fields, "tags"));
  if (const auto parent = create.tags.find(kParentTag); parent != create.tags.end()) {
    create.parent = RunId(parent->second);
    TRY(metrics::validate(*create.parent));
  }
  if (const auto title = create.tags.find("mlflow.runName");
      create.name.empty() && title != create.tags.end())
    create.name = title->second;
  return Call(std::move(create));
}

Result<Call> get_run(const Fields& fields) {
  TRY_ASSIGN(RunId run, run_in(fields));
  return Call(GetRun{std::move(run)});
}

Result<Call> update_run(const Fields& fields) {
  UpdateRun update;
  TRY_ASSIGN(update.run, run_in(fields));
  TRY_ASSIGN(const auto status, fields.optional_text({"status"}));
  if (status) {
    update.status = metrics::run_status_from(*status);
    if (!update.status)
      return wrong("status", fmt::format("'{}' is not RUNNING, SCHEDULED, FINISHED, FAILED or "
                                         "KILLED",
                                         status->substr(0, 60)));
  }
  if (fields.has("end_time")) {
    TRY_ASSIGN(update.ended, fields.time("end_time"));
  }
  TRY_ASSIGN(update.name, fields.optional_text({"run_name"}));
  return Call(std::move(update));
}

template <bool restore>
Result<Call> delete_run(const Fields& fields) {
  TRY_ASSIGN(RunId run, run_in(fields));
  return Call(DeleteRun{std::move(run), restore});
}

Result<Call> search_runs(const Fields& fields) {
  SearchRuns search;
  TRY_ASSIGN(search.experiment_ids, fields.texts("experiment_ids", kMaxExperiments));
  TRY_ASSIGN(auto filter, fields.optional_text({"filter"}));
  search.filter = std::move(filter).value_or("");
  if (search.filter.size() > kMaxFilterBytes)
    return wrong("filter", fmt::format("it has {} bytes, and {} are possible", search.filter.size(),
                                       kMaxFilterBytes));
  TRY_ASSIGN(search.order_by, fields.texts("order_by", kMaxOrderBy));
  TRY_ASSIGN(search.view, view_in(fields, "run_view_type"));
  TRY_ASSIGN(search.page, page_in(fields, kPageOfRuns, kMostRuns));
  return Call(std::move(search));
}

// ---- what runs log ------------------------------------------------------------------------------

// A batch can be applied or refused as a whole, so it is checked here as the store will.
Result<Call> logged(metrics::LogBatch batch) {
  TRY(metrics::validate(metrics::Change(batch)));
  return Call(Log{std::move(batch)});
}

Result<metrics::NamedPoint> point_in(const Fields& fields) {
  metrics::NamedPoint point;
  TRY_ASSIGN(point.name, fields.text({"key"}));
  TRY_ASSIGN(point.point.value, fields.real("value"));
  TRY_ASSIGN(point.point.time, fields.time("timestamp"));
  TRY_ASSIGN(point.point.step, fields.number("step", 0));
  return point;
}

Result<Call> log_metric(const Fields& fields) {
  metrics::LogBatch batch;
  TRY_ASSIGN(batch.run, run_in(fields));
  TRY_ASSIGN(metrics::NamedPoint point, point_in(fields));
  batch.points.push_back(std::move(point));
  return logged(std::move(batch));
}

Result<Call> log_parameter(const Fields& fields) {
  metrics::LogBatch batch;
  TRY_ASSIGN(batch.run, run_in(fields));
  TRY_ASSIGN(std::string key, fields.text({"key"}));
  TRY_ASSIGN(auto value, fields.optional_text({"value"}));
  batch.params.emplace(std::move(key), std::move(value).value_or(""));
  return logged(std::move(batch));
}

Result<Call> log_batch(const Fields& fields) {
  metrics::LogBatch batch;
  TRY_ASSIGN(batch.run, run_in(fields));
  TRY_ASSIGN(const auto points, fields.objects("metrics", metrics::kMaxBatchPoints));
  batch.points.reserve(points.size());
  for (const Fields& each : points) {
    TRY_ASSIGN(metrics::NamedPoint point, point_in(each));
    batch.points.push_back(std::move(point));
  }
  TRY_ASSIGN(batch.params, texts_in(fields, "params"));
  TRY_ASSIGN(batch.tags, texts_in(fields, "tags"));
  return logged(std::move(batch));
}

Result<Call> set_tag(const Fields& fields) {
  metrics::LogBatch batch;
  TRY_ASSIGN(batch.run, run_in(fields));
  TRY_ASSIGN(std::string key, fields.text({"key"}));
  TRY_ASSIGN(auto value, fields.optional_text({"value"}));
  batch.tags.emplace(std::move(key), std::move(value).value_or(""));
  return logged(std::move(batch));
}

Result<Call> delete_tag(const Fields& fields) {
  metrics::LogBatch batch;
  TRY_ASSIGN(batch.run, run_in(fields));
  TRY_ASSIGN(std::string key, fields.text({"key"}));
  batch.removed_tags.push_back(std::move(key));
  return logged(std::move(batch));
}

Result<Call> log_inputs(const Fields& fields) {
  LogInputs inputs;
  TRY_ASSIGN(inputs.run, run_in(fields));
  TRY_ASSIGN(const auto datasets, fields.objects("datasets", kMaxDatasets));
  for (const Fields& input : datasets) {
    TRY_ASSIGN(const auto object, input.object("dataset"));
    if (!object) return wrong("datasets", "an input has no 'dataset'");
    LogInputs::Dataset dataset;
    TRY_ASSIGN(dataset.name, object->text({"name"}));
    TRY_ASSIGN(dataset.digest, object->text({"digest"}));
    TRY_ASSIGN(auto type, object->optional_text({"source_type"}));
    dataset.source_type = std::move(type).value_or("");
    inputs.datasets.push_back(std::move(dataset));
  }
  return Call(std::move(inputs));
}

Result<Call> log_model(const Fields& fields) {
  LogModel log;
  TRY_ASSIGN(log.run, run_in(fields));
  TRY_ASSIGN(log.model, fields.text({"model_json"}));
  if (log.model.size() > kMaxModelBytes)
    return wrong("model_json", fmt::format("it has {} bytes, and {} are possible", log.model.size(),
                                           kMaxModelBytes));
  return Call(std::move(log));
}

Result<Call> get_history(const Fields& fields) {
  GetHistory history;
  TRY_ASSIGN(history.run, run_in(fields));
  TRY_ASSIGN(history.metric, fields.text({"metric_key"}));
  TRY_ASSIGN(history.page, page_in(fields, kPageOfPoints, kPageOfPoints));
  return Call(std::move(history));
}

// A path of a tree: it leads nowhere else.
bool is_below(std::string_view path) {
  if (path.empty()) return true;
  if (path.front() == '/' || path.find('\0') != path.npos || path.find('\\') != path.npos)
    return false;
  for (;;) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (part.size() == path.size()) return true;
    path.remove_prefix(part.size() + 1);
  }
}

Result<Call> list_artifacts(const Fields& fields) {
  ListArtifacts list;
  TRY_ASSIGN(list.run, run_in(fields));
  TRY_ASSIGN(auto path, fields.optional_text({"path"}));
  list.path = std::move(path).value_or("");
  if (!is_below(list.path)) return wrong("path", "it is no path below the run's artifacts");
  TRY_ASSIGN(list.page, page_in(fields, kPageOfArtifacts, kPageOfArtifacts));
  return Call(std::move(list));
}

// ---- all of them --------------------------------------------------------------------------------

struct Row {
  Endpoint endpoint;
  Result<Call> (*decode)(const Fields&);
};
constexpr Row kRows[] = {
    {{Method::post, "experiments/create"}, create_experiment},
    {{Method::get, "experiments/get"}, get_experiment},
    {{Method::get, "experiments/get-by-name"}, get_experiment_by_name},
    {{Method::post, "experiments/search"}, search_experiments},
    {{Method::post, "runs/create"}, create_run},
    {{Method::get, "runs/get"}, get_run},
    {{Method::post, "runs/update"}, update_run},
    {{Method::post, "runs/delete"}, delete_run<false>},
    {{Method::post, "runs/restore"}, delete_run<true>},
    {{Method::post, "runs/search"}, search_runs},
    {{Method::post, "runs/log-metric"}, log_metric},
    {{Method::post, "runs/log-parameter"}, log_parameter},
    {{Method::post, "runs/log-batch"}, log_batch},
    {{Method::post, "runs/set-tag"}, set_tag},
    {{Method::post, "runs/delete-tag"}, delete_tag},
    {{Method::post, "runs/log-inputs"}, log_inputs},
    {{Method::post, "runs/log-model"}, log_model},
    {{Method::get, "metrics/get-history"}, get_history},
    {{Method::get, "artifacts/list"}, list_artifacts},
};

// What clients put into a query.
Result<nlohmann::json> arguments_of(const http::Query& query) {
  return object_of(query, {"experiment_id", "experiment_name", "run_id", "run_uuid", "metric_key",
                           "max_results", "page_token", "path"});
}

}  // namespace

const std::vector<Endpoint>& endpoints() {
  static const std::vector<Endpoint> all = [] {
    std::vector<Endpoint> endpoints;
    for (const Row& row : kRows) endpoints.push_back(row.endpoint);
    return endpoints;
  }();
  return all;
}

Result<Call> decode(Method method, std::string_view path, const http::Query& query,
                    std::string_view body) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) {
    return each.endpoint.method == method && each.endpoint.path == path;
  });
  if (row == std::end(kRows))
    return make_error(ErrorCode::not_found, fmt::format("MLflow's {} {} is not served here",
                                                        to_string(method), path.substr(0, 100)));
  if (body.size() > kMaxBodyBytes)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the body has {} bytes, and {} are possible; log in smaller "
                                  "batches",
                                  body.size(), kMaxBodyBytes));
  TRY_ASSIGN(const nlohmann::json object,
             method == Method::get ? arguments_of(query) : parse_object(body));
  return row->decode(Fields(object));
}

}  // namespace lockstep::mlflow
