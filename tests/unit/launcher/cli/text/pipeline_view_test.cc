// What people and scripts see of a pipeline.

#include "launcher/cli/text/pipeline_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launcher/api/json/job.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/view_text.h"
#include "tests/unit/launcher/cli/pipeline_samples.h"

namespace lockstep::cli {
namespace {

TEST(PipelineJson, HasItsStepsByName) {
  const Json json = api::to_json(sample_pipeline());
  EXPECT_EQ(json["type"], "pipeline");
  EXPECT_TRUE(json["command"].is_null());
  EXPECT_TRUE(json["resources"].is_null());
  EXPECT_EQ(json["jobs"].size(), 5u);
  EXPECT_EQ(json["jobs"].begin().key(), "prepare") << "in the pipeline's order";
  EXPECT_EQ(json["jobs"]["nested.train"], Json::parse(R"({
    "name": "nested.train", "phase": "Running", "status": "Running", "job": "p_nested_train",
    "reused_from": null, "reason": "", "reason_data": null, "compute": null, "after": [],
    "started_at": "2030-01-01T12:00:01.000Z", "ended_at": null})"));
  EXPECT_EQ(json["jobs"]["prepare"]["reused_from"], "old_prepare");
  EXPECT_TRUE(json["jobs"]["prepare"]["job"].is_null()) << "it has no job of its own";
  EXPECT_EQ(json["jobs"]["nested.score"]["after"], Json::parse(R"(["nested.train"])"));
}

TEST(PipelineJson, OutputsNameTheirStepAndTheirFiles) {
  JobView job = sample_pipeline();
  EXPECT_EQ(api::to_json(job)["outputs"],
            Json::parse(R"({"model": {"step": "nested.train", "output": "weights"}})"));
  job.merged = {{"model", sha256("tree"), "w.bin", {"a.txt differs"}}};
  const Json model = api::to_json(job)["outputs"]["model"];
  EXPECT_EQ(model["digest"], sha256("tree").hex());
  EXPECT_EQ(model["file"], "w.bin");
  EXPECT_EQ(model["problems"], Json::parse(R"(["a.txt differs"])"));
}

TEST(PipelineJson, TheJobOfAStepNamesItsPipeline) {
  JobView job = sample_job();
  job.spec.parent = JobId("p");
  job.spec.step = "nested.train";
  const Json json = api::to_json(job);
  EXPECT_EQ(json["lockstep"]["parent"], "p");
  EXPECT_EQ(json["lockstep"]["step"], "nested.train");
  EXPECT_NE(job_text(job, kNoon).find("step:         nested.train of pipeline p\n"),
            std::string::npos);
}

TEST(PipelineText, DrawsTheTree) {
  EXPECT_EQ(pipeline_text(sample_pipeline(), kNoon + seconds(20), {}),
            "name:         p\n"
            "status:       Running\n"
            "reason:       1 step runs, 1 wait; step 'check' failed\n"
            "experiment:   handwriting\n"
            "outputs:      model (nested.train.weights)\n"
            "submitted:    2030-01-01T12:00:00.000Z (20.0s ago) by ada\n"
            "took:         20.0s\n"
            "steps:        5: 1 Reused, 1 Failed, 1 NotRun, 1 Running, 1 Waiting\n"
            "STEP     STATE    RAN    JOB             WHY\n"
            "prepare  Reused   -      -               reused from old_prepare\n"
            "nested\n"
            "  train  Running  19.0s  p_nested_train\n"
            "  score  Waiting  -      -               waits for nested.train\n"
            "check    Failed   3.0s   p_check         rank 0 on local-0 exited with code 3\n"
            "publish  NotRun   -      -               step 'check' failed, whose output 'good' is "
            "its input 'data'\n");
}

TEST(PipelineText, ATerminalGetsThoseThatRunFirst) {
  JobView job = sample_pipeline();
  job.steps.clear();
  for (int i = 0; i < 1'000; ++i)
    job.steps.push_back(sample_step("s" + std::to_string(i), i == 500  ? StepPhase::running
                                                             : i < 700 ? StepPhase::completed
                                                                       : StepPhase::waiting));
  const std::string text = pipeline_text(job, kNoon, {false, 100});
  EXPECT_NE(text.find("\ns500  Running"), std::string::npos) << text;
  EXPECT_NE(text.find("\ns700  Waiting"), std::string::npos) << text;
  EXPECT_EQ(text.find("\ns0 "), std::string::npos) << text;
  EXPECT_NE(text.find("and 960 more: 699 Completed, 261 Waiting; --all-steps shows all\n"),
            std::string::npos)
      << text;
  const std::string all = pipeline_text(job, kNoon, {});
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 8 + 1 + 1'000) << all.substr(0, 900);
}

TEST(PipelineText, CountsCanceledStepsAsTheTableNamesThem) {
  JobView job = sample_pipeline();
  job.steps.push_back(sample_step("stopped", StepPhase::failed));
  job.steps.back().status = JobStatus::canceled;
  const std::string text = pipeline_text(job, kNoon, {});
  EXPECT_NE(text.find("6: 1 Reused, 1 Failed, 1 Canceled, 1 NotRun, 1 Running, 1 Waiting\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nstopped  Canceled"), std::string::npos) << text;
}

TEST(PipelineText, ATableOfJobsCountsItsSteps) {
  JobView job = sample_pipeline();
  EXPECT_NE(job_table({job}, kNoon).find("  3/5 steps  "), std::string::npos);
  job.steps.clear();
  EXPECT_NE(job_table({job}, kNoon).find("  pipeline  "), std::string::npos);
}

TEST(PipelineReport, NamesTheStepThatFailedAndThoseThatWereNotRun) {
  EXPECT_EQ(failure_report(failed_pipeline()),
            "job p Failed\n"
            "  first failure: rank 0 on local-0: exited with code 3\n"
            "  step 'check' (job p_check): rank 0 on local-0 exited with code 3\n"
            "  not run: publish (step 'check' failed, whose output 'good' is its input 'data')\n"
            "  look at it with: lockstep job logs p_check --rank 0\n");
  JobView another = failed_pipeline();
  another.steps[2] = sample_step("nested.score", StepPhase::failed);
  another.steps[2].reason = "no such file";
  EXPECT_NE(failure_report(another).find(
                "  step 'nested.score' (job p_nested.score) failed too: no such file\n"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep::cli
