#include "launcher/cli/text/dry_run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

spec::JobFile read(const std::string& text) {
  auto job = spec::parse_job("job.yml", text);
  EXPECT_TRUE(job) << job.error().message;
  return job ? *std::move(job) : spec::JobFile{};
}

const std::string kPipeline = R"(
type: pipeline
settings: {on_init: begin, on_finalize: end, continue_on_step_failure: false}
outputs: {model: '${{parent.jobs.train.outputs.model}}'}
jobs:
  end: {command: echo end}
  train:
    command: |
      train ${{inputs.a}}
      ${{outputs.model}}
    environment: azureml:torch:1
    compute: gpu-cluster
    resources: {instance_count: 2}
    distribution: {type: mpi, process_count_per_instance: 4}
    inputs: {a: '${{parent.jobs.prepare.outputs.o}}', b: '${{parent.jobs.prepare.outputs.o}}'}
    outputs: {model: }
  prepare: {command: prepare, outputs: {o: }, environment: {image: 'debian:12'}}
  begin: {command: echo begin}
)";

TEST(Plan, ShowsTheStepsInOrderWithWhatTheyWaitFor) {
  EXPECT_EQ(plan_text(read(kPipeline)),
            "STEP     COMPUTE      NODES  RANKS  WAITS FOR              ENVIRONMENT  RUNS\n"
            "begin    local        1      1      -                      -            echo begin\n"
            "prepare  local        1      1      begin                  debian:12    prepare\n"
            "train    gpu-cluster  2      8      begin, prepare         torch:1      train "
            "${{inputs.a}} ${{outputs.model}}\n"
            "end      local        1      1      begin, prepare, train  -            echo end\n");
}

TEST(Plan, IsTheSameInJson) {
  const Json plan = plan_json("./job.yml", read(kPipeline));
  EXPECT_EQ(plan["file"], "./job.yml");
  EXPECT_EQ(plan["type"], "pipeline");
  EXPECT_EQ(plan["name"], nullptr);
  EXPECT_EQ(plan["continue_on_step_failure"], false);
  EXPECT_EQ(plan["outputs"]["model"], (Json{{"step", "train"}, {"output", "model"}}));
  ASSERT_EQ(plan["steps"].size(), 4u);
  const Json& train = plan["steps"][2];
  EXPECT_EQ(train["name"], "train");
  EXPECT_EQ(train["role"], "main");
  EXPECT_EQ(train["waits_for"], (Json{"begin", "prepare"}));
  EXPECT_EQ(train["bindings"]["b"], (Json{{"step", "prepare"}, {"output", "o"}}));
  EXPECT_EQ(train["environment_name"], "torch:1");
  EXPECT_EQ(train["job"]["resources"]["instance_count"], 2);
  EXPECT_EQ(plan["steps"][3]["role"], "on_finalize");
  EXPECT_EQ(plan["steps"][0]["role"], "on_init");
}

TEST(Plan, ACommandIsOneStep) {
  const spec::JobFile job = read("name: j\ncommand: echo ${{inputs.a}}\ninputs: {a: b}\n");
  EXPECT_EQ(plan_text(job),
            "STEP  COMPUTE  NODES  RANKS  WAITS FOR  ENVIRONMENT  RUNS\n"
            "j     local    1      1      -          -            echo b\n");
  const Json plan = plan_json("job.yml", job);
  EXPECT_EQ(plan["type"], "command");
  EXPECT_EQ(plan["steps"][0]["reuse"], false);
  EXPECT_EQ(plan["job"], plan["steps"][0]["job"]);
}

}  // namespace
}  // namespace lockstep::cli
