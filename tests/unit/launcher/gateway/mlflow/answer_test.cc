// Answers as MLflow's clients read them.

#include "launcher/gateway/mlflow/answer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "launcher/gateway/mlflow/experiment_id.h"

namespace lockstep::mlflow {
namespace {

using Json = nlohmann::json;

metrics::FoundRun found_run() {
  metrics::FoundRun found;
  found.info.run = metrics::RunId("pig.a1");
  found.info.experiment = "iris";
  found.info.status = metrics::RunStatus::finished;
  found.info.started = Instant{1'500'000'000};
  found.info.ended = Instant{2'500'000'000};
  found.info.owner = "ann";
  metrics::MetricSummary loss;
  loss.name = "loss";
  loss.last = {7, Instant{3'000'000}, std::nan("")};
  found.data.metrics = {loss};
  found.data.params = {{"lr", "0.1"}};
  found.data.tags = {{"team", "x"}};
  return found;
}

std::string tag(const Json& run, const std::string& key) {
  for (const Json& each : run["data"]["tags"])
    if (each["key"] == key) return each["value"];
  return "(none)";
}

TEST(Answer, ARun) {
  const Json run = Json::parse(run_json(found_run()))["run"];
  EXPECT_EQ(run["info"]["run_id"], "pig.a1");
  EXPECT_EQ(run["info"]["experiment_id"], "iris");
  EXPECT_EQ(run["info"]["status"], "FINISHED");
  EXPECT_EQ(run["info"]["start_time"], 1'500);
  EXPECT_EQ(run["info"]["end_time"], 2'500);
  EXPECT_EQ(run["info"]["artifact_uri"], "mlflow-artifacts:/pig.a1");
  EXPECT_EQ(run["info"]["lifecycle_stage"], "active");
  EXPECT_EQ(run["data"]["metrics"],
            Json::array({{{"key", "loss"}, {"value", "NaN"}, {"timestamp", 3}, {"step", 7}}}));
  EXPECT_EQ(run["data"]["params"], Json::array({{{"key", "lr"}, {"value", "0.1"}}}));
  EXPECT_EQ(tag(run, "team"), "x");
  EXPECT_EQ(tag(run, "mlflow.parentRunId"), "pig");
  EXPECT_EQ(tag(run, "mlflow.user"), "ann");
  EXPECT_EQ(tag(run, "mlflow.runName"), "pig.a1");
}

TEST(Answer, ARunThatGoesOnHasNoEnd) {
  metrics::FoundRun run = found_run();
  run.info.ended = {};
  EXPECT_FALSE(Json::parse(run_json(run))["run"]["info"].contains("end_time"));
}

TEST(Answer, BytesThatAreNoTextDoNoHarm) {
  metrics::FoundRun run = found_run();
  run.data.tags["bad"] = "\xff";
  EXPECT_FALSE(Json::parse(run_json(run), nullptr, false).is_discarded());
}

TEST(Answer, PagesEndWithoutAToken) {
  EXPECT_FALSE(Json::parse(runs_json({found_run()}, "")).contains("next_page_token"));
  EXPECT_EQ(Json::parse(runs_json({found_run(), found_run()}, "t"))["next_page_token"], "t");
  const Json history =
      Json::parse(history_json("loss", {{{}, {1, Instant{5'000'000}, INFINITY}}}, ""));
  EXPECT_EQ(history["metrics"][0]["value"], "Infinity");
  EXPECT_EQ(history["metrics"][0]["key"], "loss");
}

TEST(Answer, ErrorsAsClientsKnowThem) {
  const auto conflict = error_response(make_error(ErrorCode::conflict, "lr is 1 already"));
  EXPECT_EQ(conflict.status, 400);
  const Json body = Json::parse(conflict.body);
  EXPECT_EQ(body["error_code"], "INVALID_PARAMETER_VALUE");
  EXPECT_EQ(body["message"], "lr is 1 already");
  EXPECT_EQ(status_of(ErrorCode::not_found), 404);
  EXPECT_EQ(status_of(ErrorCode::unavailable), 503) << "clients try again";
  EXPECT_EQ(status_of(ErrorCode::resource_exhausted), 400) << "they would try again for minutes";
}

TEST(ExperimentId, IsMadeOfTheNameAndNoTwoAreTheSame) {
  EXPECT_EQ(experiment_id_of(""), "0");
  EXPECT_EQ(experiment_id_of("iris-2"), "iris-2");
  std::set<std::string> all;
  const std::string names[] = {"",
                               "0",
                               "iris",
                               "my iris",
                               "my  iris",
                               "-x",
                               "e_1",
                               "\xc3\xa4",
                               std::string(64, 'a'),
                               std::string(65, 'a'),
                               experiment_id_of("my iris")};
  for (const std::string& name : names) {
    const std::string id = experiment_id_of(name);
    EXPECT_TRUE(all.insert(id).second) << name;
    EXPECT_LE(id.size(), 64u);
    EXPECT_EQ(
        id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
        id.npos);
  }
}

}  // namespace
}  // namespace lockstep::mlflow
