// Requests as MLflow's clients send them, and those that nobody should.

#include "launcher/gateway/mlflow/decode.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "common/domain/runs/batch_limits.h"

namespace lockstep::mlflow {
namespace {

using http::Method;
using testing::HasSubstr;
using testing::SizeIs;

Result<Call> post(const std::string& path, const std::string& body) {
  return decode(Method::post, path, http::Query(), body);
}

Result<Call> get(const std::string& path, const std::string& query) {
  const auto parsed = http::Query::parse(query);
  if (!parsed) return parsed.error();
  return decode(Method::get, path, *parsed, "");
}

template <typename T>
T must(const Result<Call>& call) {
  EXPECT_TRUE(call) << call.error().message;
  if (!call || !std::holds_alternative<T>(*call)) {
    ADD_FAILURE() << "another call";
    return T();
  }
  return std::get<T>(*call);
}

TEST(Decode, ABatchAsClientsSendIt) {
  const auto batch = must<Log>(post("runs/log-batch", R"({
      "run_id": "gray_pig",
      "metrics": [{"key": "loss", "value": 0.5, "timestamp": 1700000000123, "step": 3},
                  {"key": "loss", "value": "NaN", "timestamp": "1700000000124", "step": "4",
                   "model_id": "m-1"}],
      "params": [{"key": "lr", "value": "0.1"}],
      "tags": [{"key": "mlflow.note", "value": ""}]})"))
                         .batch;
  EXPECT_EQ(batch.run, RunId("gray_pig"));
  ASSERT_THAT(batch.points, SizeIs(2));
  EXPECT_EQ(batch.points[0].name, "loss");
  EXPECT_EQ(batch.points[0].point.step, 3);
  EXPECT_EQ(batch.points[0].point.time, Instant{1'700'000'000'123'000'000});
  EXPECT_EQ(batch.points[0].point.value, 0.5);
  EXPECT_TRUE(std::isnan(batch.points[1].point.value));
  EXPECT_EQ(batch.points[1].point.step, 4);
  EXPECT_EQ(batch.params.at("lr"), "0.1");
  EXPECT_EQ(batch.tags.at("mlflow.note"), "");
}

TEST(Decode, SingleNumbersParamsAndTagsAreBatchesOfOne) {
  const auto metric =
      must<Log>(post("runs/log-metric",
                     R"({"run_uuid": "pig.ab1", "run_id": "pig.ab1", "key": "acc", "value": 1,
               "timestamp": 5})"));
  ASSERT_THAT(metric.batch.points, SizeIs(1));
  EXPECT_EQ(metric.batch.run, RunId("pig.ab1"));
  EXPECT_EQ(metric.batch.points[0].point.step, 0);
  const auto param =
      must<Log>(post("runs/log-parameter", R"({"run_id": "pig", "key": "lr", "value": "1"})"));
  EXPECT_EQ(param.batch.params.at("lr"), "1");
  const auto tag =
      must<Log>(post("runs/set-tag", R"({"run_id": "pig", "key": "team", "value": "x"})"));
  EXPECT_EQ(tag.batch.tags.at("team"), "x");
  const auto gone = must<Log>(post("runs/delete-tag", R"({"run_id": "pig", "key": "team"})"));
  EXPECT_THAT(gone.batch.removed_tags, testing::ElementsAre("team"));
}

TEST(Decode, ANestedRunSaysWhatItIsInsideOf) {
  const auto run =
      must<CreateRun>(post("runs/create",
                           R"({"experiment_id": "iris", "start_time": 1000, "user_id": "me",
          "tags": [{"key": "mlflow.parentRunId", "value": "pig"},
                   {"key": "mlflow.runName", "value": "child"}]})"));
  EXPECT_EQ(run.experiment_id, "iris");
  EXPECT_EQ(run.parent, RunId("pig"));
  EXPECT_EQ(run.name, "child");
  EXPECT_EQ(run.started, Instant{1'000'000'000});
}

TEST(Decode, QueriesOfGet) {
  EXPECT_EQ(must<GetRun>(get("runs/get", "run_uuid=pig&run_id=pig")).run, RunId("pig"));
  EXPECT_EQ(
      must<GetExperimentByName>(get("experiments/get-by-name", "experiment_name=my+iris")).name,
      "my iris");
  const auto history =
      must<GetHistory>(get("metrics/get-history", "run_id=pig&metric_key=loss&max_results=10"));
  EXPECT_EQ(history.metric, "loss");
  EXPECT_EQ(history.page.limit, 10u);
  EXPECT_EQ(must<ListArtifacts>(get("artifacts/list", "run_id=pig&path=model%2Fdata")).path,
            "model/data");
}

TEST(Decode, SearchesAndUpdates) {
  const auto search = must<SearchRuns>(
      post("runs/search", R"({"experiment_ids": ["0", "iris"], "filter": "metrics.loss < 1",
                              "run_view_type": "ALL", "max_results": 5, "page_token": "x",
                              "order_by": ["metrics.loss ASC"]})"));
  EXPECT_THAT(search.experiment_ids, testing::ElementsAre("0", "iris"));
  EXPECT_EQ(search.view, View::all);
  EXPECT_EQ(search.page, (Page{5, "x"}));
  EXPECT_EQ(must<SearchRuns>(post("runs/search", "{}")).view, View::active);
  const auto update = must<UpdateRun>(
      post("runs/update", R"({"run_id": "pig", "status": "FAILED", "end_time": 7})"));
  EXPECT_EQ(update.status, metrics::RunStatus::failed);
  EXPECT_EQ(update.ended, Instant{7'000'000});
  EXPECT_EQ(update.name, std::nullopt);
  EXPECT_TRUE(must<DeleteRun>(post("runs/restore", R"({"run_id": "pig.a"})")).restore);
}

TEST(Decode, InputsAndModels) {
  const auto inputs = must<LogInputs>(
      post("runs/log-inputs",
           R"({"run_id": "pig", "datasets": [{"tags": [], "dataset": {"name": "iris",
          "digest": "ab", "source_type": "code", "source": "{}", "schema": null}}]})"));
  ASSERT_THAT(inputs.datasets, SizeIs(1));
  EXPECT_EQ(inputs.datasets[0], (LogInputs::Dataset{"iris", "ab", "code"}));
  EXPECT_EQ(
      must<LogModel>(post("runs/log-model", R"({"run_id": "pig", "model_json": "{}"})")).model,
      "{}");
}

// What is wrong, and a word of the message that says so.
struct Bad {
  const char* path;
  std::string body;
  const char* says;
};

std::string many(const std::string& item, std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + item;
  return list;
}

TEST(Decode, WhatIsWrongIsRefusedByName) {
  const std::string point = R"({"key": "a", "value": 1, "timestamp": 1})";
  const Bad all[] = {
      {"runs/log-batch", "[]", "no JSON object"},
      {"runs/log-batch", "{", "no JSON object"},
      {"runs/log-batch", "nonsense", "no JSON object"},
      {"runs/log-batch", "\xff\xfe", "no JSON object"},
      {"runs/log-batch", std::string(200, '['), "nests deeper"},
      {"runs/log-batch", R"({"a": )" + std::string(100'000, '['), "nests deeper"},
      {"runs/log-batch", "{\"a\": [" + many("1", 250'000) + "]}", "values"},
      {"runs/log-batch", R"({})", "run_id"},
      {"runs/log-batch", R"({"run_id": null})", "run_id"},
      {"runs/log-batch", R"({"run_id": 5})", "run_id"},
      {"runs/log-batch", R"({"run_id": ""})", ""},
      {"runs/log-batch", R"({"run_id": "../etc"})", ""},
      {"runs/log-batch", R"({"run_id": "pig.a b"})", ""},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": {}})", "metrics"},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": [1]})", "metrics"},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": [{"key": "a"}]})", "value"},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": [{"value": 1}]})", "key"},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": [{"key": "a", "value": "x"}]})", "value"},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": [{"key": "a", "value": [1]}]})", "value"},
      {"runs/log-batch",
       R"({"run_id": "pig", "metrics": [{"key": "a", "value": 1, "timestamp": -1}]})", "timestamp"},
      {"runs/log-batch",
       R"({"run_id": "pig", "metrics": [{"key": "a", "value": 1, "timestamp": 1e300}]})",
       "timestamp"},
      {"runs/log-batch", R"({"run_id": "pig", "metrics": [{"key": "a", "value": 1, "step": 0.5}]})",
       "step"},
      {"runs/log-batch",
       R"({"run_id": "pig", "metrics": [{"key": "a", "value": 1, "step": 99999999999999999999}]})",
       "step"},
      {"runs/log-batch",
       R"({"run_id": "pig", "metrics": [)" + many(point, metrics::kMaxBatchPoints + 1) + "]}",
       "metrics"},
      {"runs/log-batch",
       R"({"run_id": "pig", "metrics": [{"key": ")" + std::string(251, 'k') + R"(", "value": 1}]})",
       "metric"},
      {"runs/log-batch",
       R"({"run_id": "pig", "params": [{"key": "a", "value": "1"}, {"key": "a", "value": "2"}]})",
       "twice"},
      {"runs/log-batch",
       R"({"run_id": "pig", "params": [{"key": "a", "value": ")" + std::string(6'001, 'v') +
           R"("}]})",
       "param"},
      {"runs/log-batch", R"({"run_id": "pig", "tags": [{"key": "", "value": "x"}]})", "tag"},
      {"runs/log-batch", std::string(kMaxBodyBytes + 1, ' '), "smaller"},
      {"runs/log-metric", R"({"run_id": "pig", "key": "", "value": 1})", "metric"},
      {"runs/log-parameter", R"({"run_id": "pig", "value": "x"})", "key"},
      {"runs/set-tag", R"({"run_id": "pig", "key": 1})", "key"},
      {"runs/update", R"({"run_id": "pig", "status": "DONE"})", "status"},
      {"runs/update", R"({"run_id": "pig", "end_time": "soon"})", "end_time"},
      {"runs/create", R"({"tags": [{"key": "mlflow.parentRunId", "value": "a/b"}]})", ""},
      {"runs/create", R"({"start_time": {}})", "start_time"},
      {"runs/search", R"({"max_results": 0})", "max_results"},
      {"runs/search", R"({"max_results": 50001})", "max_results"},
      {"runs/search", R"({"experiment_ids": "0"})", "experiment_ids"},
      {"runs/search", R"({"experiment_ids": [0]})", "experiment_ids"},
      {"runs/search", R"({"run_view_type": "SOME"})", "run_view_type"},
      {"runs/search", R"({"order_by": [)" + many("\"a\"", 21) + "]}", "order_by"},
      {"runs/search", R"({"page_token": ")" + std::string(2'000, 'x') + R"("})", "page_token"},
      {"runs/search", R"({"filter": ")" + std::string(40'000, 'x') + R"("})", "filter"},
      {"runs/log-inputs", R"({"run_id": "pig", "datasets": [{}]})", "dataset"},
      {"runs/log-inputs", R"({"run_id": "pig", "datasets": [)" + many("{}", 101) + "]}",
       "datasets"},
      {"runs/log-model", R"({"run_id": "pig"})", "model_json"},
      {"experiments/create", R"({"name": ""})", "name"},
      {"experiments/create", R"({"name": ")" + std::string(300, 'n') + R"("})", "name"},
  };
  for (const Bad& bad : all) {
    const auto call = post(bad.path, bad.body);
    SCOPED_TRACE(std::string(bad.path) + " " + bad.body.substr(0, 200));
    ASSERT_FALSE(call);
    EXPECT_EQ(call.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(call.error().message, HasSubstr(bad.says));
    EXPECT_LE(call.error().message.size(), 500u) << "it repeats what was sent";
  }
}

TEST(Decode, PathsOfArtifactsLeadNowhereElse) {
  for (const char* path : {"%2Fetc", "..", "a%2F..%2Fb", "a%2F%2Fb", ".", "a%2F", "a%5Cb", "a%00b"})
    EXPECT_FALSE(get("artifacts/list", std::string("run_id=pig&path=") + path)) << path;
}

TEST(Decode, WhatIsNotServedIsNotFound) {
  for (const char* path : {"", "runs", "runs/", "runs/create/", "RUNS/CREATE", "gateway-proxy"}) {
    const auto call = post(path, "{}");
    ASSERT_FALSE(call) << path;
    EXPECT_EQ(call.error().code, ErrorCode::not_found);
  }
  EXPECT_FALSE(get("runs/create", "")) << "with another method";
  std::set<std::pair<Method, std::string_view>> all;
  for (const Endpoint& endpoint : endpoints())
    EXPECT_TRUE(all.emplace(endpoint.method, endpoint.path).second) << endpoint.path;
  EXPECT_GE(all.size(), 19u);
}

}  // namespace
}  // namespace lockstep::mlflow
