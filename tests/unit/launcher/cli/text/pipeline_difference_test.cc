#include "launcher/cli/text/differences/pipeline_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/launcher/cli/pipeline_samples.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;

JobView pipeline_of(const std::vector<std::pair<std::string, std::string>>& commands) {
  JobView job;
  PipelineSpec pipeline;
  for (const auto& [name, command] : commands) {
    PipelineStep& step = pipeline.steps.emplace_back();
    step.name = name;
    step.spec.command = ShellCommand{command};
    job.steps.push_back(sample_step(name, StepPhase::completed));
  }
  job.spec.pipeline = pipeline;
  return job;
}

std::vector<std::string> keys_of(const std::vector<FieldDifference>& fields) {
  std::vector<std::string> keys;
  for (const FieldDifference& field : fields) keys.push_back(field.key);
  return keys;
}

TEST(PipelineDifference, PairsStepsByName) {
  const JobView a = pipeline_of({{"make", "x"}, {"outer.train", "y"}, {"gone", "z"}});
  const JobView b = pipeline_of({{"outer.train", "y"}, {"fresh", "z"}, {"make", "x"}});
  const auto pairs = pairs_of(a, b);
  std::vector<std::string> names;
  for (const StepPair& pair : pairs) names.push_back(pair.name);
  ASSERT_THAT(names, ElementsAre("make", "outer.train", "gone", "fresh"));
  EXPECT_TRUE(differences_of(pairs[0], nullptr, nullptr).empty());
  EXPECT_TRUE(pairs[2].a && !pairs[2].b);
  const auto gone = differences_of(pairs[2], nullptr, nullptr);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].key, "");
  EXPECT_EQ(gone[0].a, "Completed");
  EXPECT_TRUE(gone[0].b.is_null());
}

TEST(PipelineDifference, OfAStepIsWhatWasAskedForAndItsResults) {
  JobView a = pipeline_of({{"s", "echo one"}}), b = pipeline_of({{"s", "echo two"}});
  PipelineSpec pipeline = *b.spec.pipeline;
  JobSpec& changed = pipeline.steps[0].spec;
  changed.environment_variables = {{"A", "b"}};
  changed.resources.instance_count = 2;
  changed.compute = "gpus";
  DataInput input;
  input.name = "in";
  input.source = "${{parent.jobs.make.outputs.o}}";
  changed.data = {input};
  pipeline.steps[0].role = StepRole::on_finalize;
  b.spec.pipeline = pipeline;
  b.steps[0] = sample_step("s", StepPhase::failed);
  b.steps[0].status = JobStatus::canceled;
  JobView a_job, b_job;  // their own texts are those that the step was given when it began
  a_job.spec.command = ShellCommand{"as it began"};
  b_job.status = JobStatus::canceled;
  b_job.report.emplace();
  b_job.report->exit_code = 143;
  const StepPair pair = pairs_of(a, b).at(0);
  EXPECT_THAT(keys_of(differences_of(pair, &a_job, &b_job)),
              ElementsAre("compute", "command", "environment_variables.A", "inputs.in",
                          "resources.instance_count", "results.exit_code", "results.cause", "role",
                          "results.status"));
  const auto by_state = differences_of(pair, nullptr, &b_job);
  EXPECT_EQ(by_state.back().a, "Completed");
  EXPECT_EQ(by_state.back().b, "Canceled");
  EXPECT_THAT(keys_of(by_state), ::testing::Not(::testing::Contains("results.exit_code")));
}

TEST(PipelineDifference, OfThePipelineAreItsSettingsAndOutputs) {
  JobView a = pipeline_of({}), b = a;
  a.merged = {{"model", sha256("1"), "", {}}};
  b.merged = {{"model", sha256("2"), "", {}}};
  PipelineSpec settings = *b.spec.pipeline;
  settings.continue_on_step_failure = false;
  b.spec.pipeline = settings;
  EXPECT_THAT(keys_of(differences_of(a, b)),
              ElementsAre("settings.continue_on_step_failure", "results.outputs.model"));
}

}  // namespace
}  // namespace lockstep::cli
