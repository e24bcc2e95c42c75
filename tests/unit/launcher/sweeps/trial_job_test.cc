// The job of a trial: its values in the command, the variables and the inputs.

#include "launcher/sweeps/trial_job.h"

#include <gmock/gmock.h>

#include "launcher/sweeps/sampler.h"
#include "tests/unit/launcher/sweeps/spaces.h"

namespace lockstep::sweeps {
namespace {

using testing::HasSubstr;

JobSpec sweep_job() {
  JobSpec spec;
  spec.name = "tuned";
  spec.command = ShellCommand{"train --lr ${{search_space.lr}} --k '${{ search_space.k }}' $HOME"};
  spec.environment_variables = {{"LR", "${{search_space.lr}}"}, {"OTHER", "x"}};
  spec.inputs = {{"lr", "${{search_space.lr}}"}};
  spec.timeout = seconds(60);
  spec.sweep = sweep_over({{"lr", UniformRange{0, 1, false, {}}},
                           {"k", choice_of({text_value("rbf"), text_value("poly")})}});
  return spec;
}

TrialParameters values_of(const std::string& lr, const std::string& k) {
  return {{"lr", {SweepValue::Kind::number, lr}}, {"k", text_value(k)}};
}

std::string command_of(const JobSpec& spec) { return std::get<ShellCommand>(spec.command).text; }

TEST(TrialJob, HasItsValues) {
  const auto job = trial_job(sweep_job(), 3, values_of("0.5", "rbf"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_FALSE(job->is_sweep());
  EXPECT_EQ(command_of(*job), "train --lr 0.5 --k 'rbf' $HOME");
  EXPECT_EQ(job->environment_variables.at("LR"), "0.5");
  EXPECT_EQ(job->environment_variables.at("OTHER"), "x");
  EXPECT_EQ(job->environment_variables.at("AZUREML_SWEEP_lr"), "0.5");
  EXPECT_EQ(job->environment_variables.at("AZUREML_SWEEP_k"), "rbf");
  EXPECT_EQ(job->environment_variables.at("LOCKSTEP_TRIAL"), "3");
  EXPECT_EQ(job->inputs.at("lr"), "0.5");
  EXPECT_EQ(job->timeout, seconds(60));
  EXPECT_EQ(job->name, "") << "the launcher names it";
  EXPECT_EQ(trial_name(3), "3");
}

TEST(TrialJob, AVariableOfTheFileStays) {
  JobSpec sweep = sweep_job();
  sweep.environment_variables["AZUREML_SWEEP_lr"] = "mine";
  EXPECT_EQ(
      trial_job(sweep, 0, values_of("0.5", "rbf"))->environment_variables.at("AZUREML_SWEEP_lr"),
      "mine");
}

TEST(TrialJob, WordsOfACommandAreFilledToo) {
  JobSpec sweep = sweep_job();
  sweep.command = Argv{{"train", "--lr=${{search_space.lr}}", "${{search_space.none}}"}};
  const auto job = trial_job(sweep, 0, values_of("0.5", "rbf"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(std::get<Argv>(job->command).words,
            (std::vector<std::string>{"train", "--lr=0.5", "${{search_space.none}}"}));
}

// A value is a text, whatever it looks like.
TEST(TrialJob, ValuesAreNotLookedInto) {
  const auto job = trial_job(sweep_job(), 0, values_of("${{search_space.k}}", "${{"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(command_of(*job), "train --lr ${{search_space.k}} --k '${{' $HOME");
}

TEST(TrialJob, WhatIsTooLongIsRefused) {
  JobSpec sweep = sweep_job();
  std::string text = "train";
  for (int i = 0; i < 1'000; ++i) text += " ${{search_space.k}}";
  sweep.command = ShellCommand{text};
  const auto job = trial_job(sweep, 0, values_of("1", std::string(10'000, 'x')));
  ASSERT_FALSE(job);
  EXPECT_THAT(job.error().message, HasSubstr("more than 1 MiB"));
  const auto longer = trial_job(sweep, 0, values_of("1", std::string(200, 'x')));
  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("command: has"));
}

TEST(TrialJob, EachTrialOfASweepIsAGoodJob) {
  const JobSpec sweep = sweep_job();
  for (std::size_t trial = 0; trial < 20; ++trial) {
    const auto job = trial_job(sweep, trial, sample(*sweep.sweep, 1, trial));
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_THAT(command_of(*job), testing::Not(HasSubstr("${{")));
  }
}

}  // namespace
}  // namespace lockstep::sweeps
