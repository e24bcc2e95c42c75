// Sweeps that are read: files of the kinds that Azure's examples have, as jobs and as steps.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/pipeline.h"
#include "launcher/spec/job_file.h"
#include "tests/unit/launcher/spec/bad_environments.h"

namespace lockstep::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JobFile read_sweep(const std::string& text, const Files& files = {},
                   const std::vector<std::string>& overrides = {}) {
  auto job = parse_job("jobs/job.yml", text, overrides, from(files));
  if (!job) {
    ADD_FAILURE() << job.error().message;
    return {};
  }
  const Status valid = validate(job->spec);
  EXPECT_TRUE(valid) << valid.error().message;
  return *std::move(job);
}

std::string shell_of(const JobSpec& spec) { return std::get<ShellCommand>(spec.command).text; }

// As the examples say hello: literal inputs, a choice and a range.
const std::string kHello =
    R"($schema: https://azuremlschemas.azureedge.net/latest/sweepJob.schema.json
type: sweep
trial:
  command: >-
    python say.py
    --base ${{inputs.base}}
    --word ${{search_space.word}}
    --scale ${{ search_space.scale }}
  code: src
  environment: azureml:sklearn-1.0@latest
inputs:
  base: 0.5
compute: azureml:cpu-cluster
sampling_algorithm: random
search_space:
  word:
    type: choice
    values: ["good", "day", "good_day"]
  scale:
    type: uniform
    min_value: 0.1
    max_value: 1.0
objective:
  goal: minimize
  primary_metric: random_metric
limits:
  max_total_trials: 4
  max_concurrent_trials: 2
  timeout: 3600
display_name: hello-sweep
experiment_name: hellos
description: A sweep that says hello.
)";

TEST(SweepFile, ASweepIsItsTrialsCommandWithASearchSpace) {
  const JobFile job = read_sweep(kHello);
  const JobSpec& spec = job.spec;
  ASSERT_TRUE(spec.is_sweep());
  EXPECT_FALSE(spec.is_pipeline());
  EXPECT_EQ(
      shell_of(spec),
      "python say.py --base 0.5 --word ${{search_space.word}} --scale ${{search_space.scale}}");
  EXPECT_EQ(job.code_dir, "src");
  ASSERT_TRUE(job.environment);
  EXPECT_EQ(spec.compute, "cpu-cluster");
  EXPECT_EQ(spec.display_name, "hello-sweep");
  EXPECT_EQ(spec.experiment_name, "hellos");
  EXPECT_EQ(spec.timeout, std::nullopt) << "limits.timeout is the sweep's";
  const SweepSpec& sweep = *spec.sweep;
  ASSERT_EQ(sweep.space.size(), 2u);
  EXPECT_EQ(sweep.space[0].name, "word");
  const auto& choice = std::get<Choice>(sweep.space[0].expression);
  ASSERT_EQ(choice.options.size(), 3u);
  EXPECT_EQ(choice.options[2].value, (SweepValue{SweepValue::Kind::text, "good_day"}));
  EXPECT_EQ(sweep.space[1].expression, SearchExpression(UniformRange{0.1, 1.0, false, {}}));
  EXPECT_EQ(sweep.sampling, SamplingAlgorithm(RandomSampling{}));
  EXPECT_EQ(sweep.objective, (Objective{Goal::minimize, "random_metric"}));
  EXPECT_EQ(sweep.early_termination, std::nullopt);
  EXPECT_EQ(sweep.limits.max_total_trials, 4);
  EXPECT_EQ(sweep.limits.max_concurrent_trials, 2);
  EXPECT_EQ(sweep.limits.timeout, seconds(3'600));
  EXPECT_TRUE(job.notes.empty()) << job.notes.front();
}

TEST(SweepFile, KeysMayBeChangedBySet) {
  const JobFile job = read_sweep(
      kHello, {},
      {"search_space.scale.max_value=3", "limits.trial_timeout=5m", "objective.goal=Maximize"});
  ASSERT_TRUE(job.spec.is_sweep());
  EXPECT_EQ(job.spec.sweep->space[1].expression,
            SearchExpression(UniformRange{0.1, 3.0, false, {}}));
  EXPECT_EQ(job.spec.sweep->objective.goal, Goal::maximize);
  EXPECT_EQ(job.spec.timeout, minutes(5)) << "that of each trial";
}

// Data, Sobol's sequence with a seed, a policy, resources of the trial and of the sweep.
const std::string kIris = R"(type: sweep
trial:
  code: src
  command: >-
    python main.py --iris-csv ${{inputs.iris_csv}}
    --learning-rate ${{search_space.learning_rate}} --boosting ${{search_space.boosting}}
  environment: azureml:lightgbm@latest
  environment_variables: {DEPTH: 'd${{search_space.depth}}'}
  distribution: {type: mpi, process_count_per_instance: 2}
  resources: {instance_count: 2}
resources: {shm_size: 4g}
queue_settings: {priority: high}
inputs:
  iris_csv: {type: uri_file, path: "https://example.com/iris.csv"}
outputs:
  model: {type: uri_folder}
sampling_algorithm:
  type: random
  rule: sobol
  seed: 123
search_space:
  learning_rate: {type: loguniform, min_value: -6.9, max_value: -0.1}
  boosting: {type: choice, values: ["gbdt", "dart"]}
  depth: {type: quniform, min_value: 2, max_value: 10, q: 1}
objective: {goal: minimize, primary_metric: test-multi_logloss}
early_termination: {type: median_stopping, delay_evaluation: 5, evaluation_interval: 2}
limits: {max_total_trials: 20, max_concurrent_trials: 10, timeout: 7200}
)";

TEST(SweepFile, TheTrialsKeysComeOverTheSweeps) {
  const JobFile job = read_sweep(kIris);
  const JobSpec& spec = job.spec;
  ASSERT_TRUE(spec.is_sweep());
  EXPECT_EQ(spec.resources.instance_count, 2);
  EXPECT_EQ(spec.resources.shm_size, gibibytes(4));
  EXPECT_EQ(spec.distribution.processes_per_node, 2);
  EXPECT_EQ(spec.queue.priority, Priority::high);
  EXPECT_EQ(spec.environment_variables.at("DEPTH"), "d${{search_space.depth}}");
  ASSERT_EQ(spec.data.size(), 1u);
  ASSERT_EQ(spec.outputs.size(), 1u);
  RandomSampling sobol;
  sobol.rule = RandomSampling::Rule::sobol;
  sobol.seed = 123;
  EXPECT_EQ(spec.sweep->sampling, SamplingAlgorithm(sobol));
  EXPECT_EQ(spec.sweep->early_termination, (EarlyTermination{MedianStoppingPolicy{}, 2, 5}));
  EXPECT_EQ(spec.sweep->space[0].expression, SearchExpression(UniformRange{-6.9, -0.1, true, {}}));
  EXPECT_EQ(spec.sweep->space[2].expression, SearchExpression(UniformRange{2, 10, false, 1.0}));
}

SweepSpec sweep_of(const std::string& sampling, const std::string& space,
                   const std::string& more = "") {
  const JobFile job =
      read_sweep("type: sweep\ntrial: {command: x}\nsampling_algorithm: " + sampling +
                 "\nsearch_space: {" + space +
                 "}\nobjective: {goal: maximize, primary_metric: auc}\n"
                 "limits: {max_total_trials: 9}\n" +
                 more);
  return job.spec.sweep ? *job.spec.sweep : SweepSpec{};
}

SearchExpression expression(const std::string& text) {
  const SweepSpec sweep = sweep_of("random", "x: {" + text + "}");
  return sweep.space.empty() ? SearchExpression() : sweep.space[0].expression;
}

TEST(SweepFile, AllExpressionsOfAzure) {
  EXPECT_EQ(expression("type: randint, upper: 10"), SearchExpression(RandomInteger{10}));
  EXPECT_EQ(expression("type: uniform, min_value: 1e-3, max_value: 1"),
            SearchExpression(UniformRange{0.001, 1, false, {}}));
  EXPECT_EQ(expression("type: QUniform, min_value: -1, max_value: 1, q: 0.25"),
            SearchExpression(UniformRange{-1, 1, false, 0.25}));
  EXPECT_EQ(expression("type: qloguniform, min_value: 0, max_value: 6, q: 2"),
            SearchExpression(UniformRange{0, 6, true, 2.0}));
  EXPECT_EQ(expression("type: normal, mu: 10, sigma: 3"),
            SearchExpression(NormalRange{10, 3, false, {}}));
  EXPECT_EQ(expression("type: qnormal, mu: 10, sigma: 3, q: 0.4"),
            SearchExpression(NormalRange{10, 3, false, 0.4}));
  EXPECT_EQ(expression("type: lognormal, mu: 0, sigma: 1"),
            SearchExpression(NormalRange{0, 1, true, {}}));
  EXPECT_EQ(expression("type: qlognormal, mu: 0, sigma: 1, q: 1"),
            SearchExpression(NormalRange{0, 1, true, 1.0}));
}

TEST(SweepFile, ValuesOfAChoiceHaveTheTypesOfYaml) {
  const auto choice =
      std::get<Choice>(expression("type: choice, values: [16, 0.010, true, rbf, \"16\", 1e-3]"));
  using Kind = SweepValue::Kind;
  std::vector<SweepValue> values;
  for (const ChoiceOption& option : choice.options) values.push_back(option.value);
  EXPECT_THAT(values, ElementsAre(SweepValue{Kind::integer, "16"}, SweepValue{Kind::number, "0.01"},
                                  SweepValue{Kind::boolean, "True"}, SweepValue{Kind::text, "rbf"},
                                  SweepValue{Kind::text, "16"}, SweepValue{Kind::text, "1e-3"}));
}

TEST(SweepFile, ValuesOfAChoiceMayBeMappings) {
  const auto choice = std::get<Choice>(expression(
      "type: choice, values: [{kernel: rbf, gamma: {type: uniform, min_value: 0, max_value: 1}}, "
      "{kernel: poly, degree: {type: choice, values: [{n: {type: randint, upper: 5}}, 7]}}, "
      "none]"));
  ASSERT_EQ(choice.options.size(), 3u);
  const SearchSpace& first = choice.options[0].object;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0], (SearchParameter{"kernel", SweepValue{SweepValue::Kind::text, "rbf"}}));
  EXPECT_EQ(first[1], (SearchParameter{"gamma", UniformRange{0, 1, false, {}}}));
  const auto& degree = std::get<Choice>(choice.options[1].object[1].expression);
  EXPECT_EQ(degree.options[0].object[0], (SearchParameter{"n", RandomInteger{5}}));
  EXPECT_TRUE(choice.options[2].object.empty());
}

TEST(SweepFile, AllSamplingAlgorithms) {
  const std::string choice = "x: {type: choice, values: [1, 2]}";
  EXPECT_EQ(sweep_of("grid", choice).sampling, SamplingAlgorithm(GridSampling{}));
  EXPECT_EQ(sweep_of("{type: grid}", choice).sampling, SamplingAlgorithm(GridSampling{}));
  EXPECT_EQ(sweep_of("Bayesian", choice).sampling, SamplingAlgorithm(BayesianSampling{}));
  EXPECT_EQ(sweep_of("{type: random}", choice).sampling, SamplingAlgorithm(RandomSampling{}));
  const auto random =
      std::get<RandomSampling>(sweep_of("{type: random, seed: -7, logbase: 10}", choice).sampling);
  EXPECT_EQ(random.seed, -7);
  EXPECT_EQ(random.log_base, 10);
  EXPECT_EQ(sweep_of("{type: random, logbase: e}", choice).sampling,
            SamplingAlgorithm(RandomSampling{}));
}

std::optional<EarlyTermination> early(const std::string& keys) {
  return sweep_of("random", "x: {type: randint, upper: 3}", "early_termination: {" + keys + "}\n")
      .early_termination;
}

TEST(SweepFile, AllPoliciesOfAzure) {
  using Slack = BanditPolicy::Slack;
  EXPECT_EQ(early("type: bandit, slack_factor: 0.1, evaluation_interval: 1, delay_evaluation: 5"),
            (EarlyTermination{BanditPolicy{Slack::factor, 0.1}, 1, 5}));
  EXPECT_EQ(early("type: bandit, slack_amount: 0.2"),
            (EarlyTermination{BanditPolicy{Slack::amount, 0.2}, 1, 0}));
  // As azure-ai-ml writes it.
  EXPECT_EQ(early("type: bandit, slack_factor: 0, slack_amount: 3.0, evaluation_interval: 0"),
            (EarlyTermination{BanditPolicy{Slack::amount, 3}, 1, 0}));
  EXPECT_EQ(
      early("type: truncation_selection, truncation_percentage: 40, evaluation_interval: 100, "
            "delay_evaluation: 200"),
      (EarlyTermination{TruncationPolicy{40}, 100, 200}));
  EXPECT_EQ(early("type: median_stopping"), (EarlyTermination{MedianStoppingPolicy{}, 1, 0}));
}

TEST(SweepFile, WhatIsLikelyAMistakeIsNoted) {
  const std::string head =
      "type: sweep\ntrial: {command: 'x ${{search_space.a}}'}\nsampling_algorithm: random\n"
      "objective: {goal: minimize, primary_metric: loss}\n";
  const JobFile job = read_sweep(
      head +
      "search_space: {a: {type: loguniform, min_value: 1e-5, max_value: 1e-1}, b: {type: "
      "randint, upper: 3}}\n");
  ASSERT_EQ(job.notes.size(), 3u);
  EXPECT_EQ(
      job.notes[0],
      "jobs/job.yml:5:16: 'search_space.a': the bounds of loguniform are exponents, so that it "
      "draws from 1.00001 to 1.10517; for 1e-05 to 0.1 write min_value: -11.51, max_value: "
      "-2.303");
  EXPECT_EQ(job.notes[1],
            "jobs/job.yml:1:1: limits.max_total_trials is absent: the sweep has 1000 trials");
  EXPECT_EQ(
      job.notes[2],
      "jobs/job.yml:5:73: 'search_space.b' stands in no command or variable; trials find it as "
      "AZUREML_SWEEP_b");
}

// ---- trials that are components
// ------------------------------------------------------------------

const Files kTrain = {{"jobs/train.yml", R"(type: command
name: train_model
inputs:
  data: {type: uri_folder}
  c_value: {type: number, default: 1.0}
  kernel: {type: string, default: rbf}
  degree: {type: integer, default: 3}
  tol: {type: number, default: 1e-3}
outputs:
  model_output: {type: uri_folder}
code: ./train-src
command: >-
  python train.py --data ${{inputs.data}} --C ${{inputs.c_value}} --kernel ${{inputs.kernel}}
  --degree ${{inputs.degree}} --tol ${{inputs.tol}} --model ${{outputs.model_output}}
resources: {instance_count: 2}
)"}};

const std::string kOfComponent = R"(sampling_algorithm: random
trial: file:./train.yml
search_space:
  c_value: {type: uniform, min_value: 0.5, max_value: 0.9}
  kernel: {type: choice, values: ["rbf", "linear"]}
objective: {goal: minimize, primary_metric: training_f1_score}
limits: {max_total_trials: 5, max_concurrent_trials: 3, timeout: 7200, trial_timeout: 600}
inputs:
  data: {type: uri_file, path: 'azureml:iris:1'}
  degree: 4
outputs:
  model_output:
)";
constexpr const char* kTrainCommand =
    "python train.py --data ${{inputs.data}} --C ${{search_space.c_value}} --kernel "
    "${{search_space.kernel}} --degree 4 --tol 0.001 --model ${{outputs.model_output}}";

TEST(SweepFile, ATrialMayBeAComponent) {
  const JobFile job = read_sweep("type: sweep\nname: tuned\n" + kOfComponent, kTrain);
  const JobSpec& spec = job.spec;
  ASSERT_TRUE(spec.is_sweep());
  EXPECT_EQ(spec.name, "tuned");
  EXPECT_EQ(shell_of(spec), kTrainCommand);
  EXPECT_EQ(spec.inputs.at("kernel"), "${{search_space.kernel}}");
  EXPECT_EQ(spec.timeout, seconds(600));
  EXPECT_EQ(spec.resources.instance_count, 2);
  EXPECT_EQ(job.code_dir, "./train-src");
  EXPECT_EQ(spec.sweep->limits.timeout, seconds(7'200));
  EXPECT_EQ(spec.sweep->space.size(), 2u);
}

std::string indented(const std::string& text, const std::string& by) {
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    all += by + text.substr(at, end - at + 1);
    at = end + 1;
  }
  return all;
}

TEST(SweepFile, AStepOfAPipelineMayBeASweep) {
  const JobFile job = read_sweep(
      "type: pipeline\nsettings: {default_compute: azureml:cpu}\njobs:\n"
      "  tune:\n    type: sweep\n" +
          indented(kOfComponent, "    ") +
          "  use:\n    command: ls ${{inputs.model}}\n    inputs:\n"
          "      model: ${{parent.jobs.tune.outputs.model_output}}\n",
      kTrain);
  ASSERT_TRUE(job.spec.pipeline);
  ASSERT_EQ(job.spec.pipeline->steps.size(), 2u);
  const PipelineStep& tune = job.spec.pipeline->steps[0];
  EXPECT_EQ(tune.name, "tune");
  ASSERT_TRUE(tune.spec.is_sweep());
  EXPECT_EQ(shell_of(tune.spec), kTrainCommand);
  EXPECT_EQ(tune.spec.compute, "cpu");
  EXPECT_FALSE(tune.reuse);
  const PipelineStep& use = job.spec.pipeline->steps[1];
  EXPECT_FALSE(use.spec.is_sweep());
  ASSERT_EQ(use.bindings.size(), 1u);
  EXPECT_EQ(use.bindings[0], (StepBinding{"model", "tune", "model_output"}));
}

TEST(SweepFile, TwoStepsMayUseOnePipelineThatSweeps) {
  Files files = kTrain;
  files["jobs/tuning.yml"] =
      "type: pipeline\njobs:\n  tune:\n    type: sweep\n" + indented(kOfComponent, "    ");
  const JobFile job = read_sweep(
      "type: pipeline\njobs:\n  a: {component: ./tuning.yml}\n  b: {component: ./tuning.yml}\n",
      files);
  ASSERT_TRUE(job.spec.pipeline);
  ASSERT_EQ(job.spec.pipeline->steps.size(), 2u);
  for (const PipelineStep& step : job.spec.pipeline->steps) {
    EXPECT_TRUE(step.spec.is_sweep()) << step.name;
    EXPECT_EQ(shell_of(step.spec), kTrainCommand) << step.name;
  }
}

TEST(SweepFile, AStepsTrialMayBeWrittenInside) {
  const JobFile job = read_sweep(R"(type: pipeline
jobs:
  tune:
    type: sweep
    trial:
      command: x ${{search_space.lr}} ${{inputs.base}}
    inputs: {base: '${{parent.inputs.base}}'}
    sampling_algorithm: grid
    search_space: {lr: {type: choice, values: [0.1, 0.2]}}
    objective: {goal: maximize, primary_metric: auc}
inputs: {base: 3}
)");
  ASSERT_TRUE(job.spec.pipeline);
  const JobSpec& spec = job.spec.pipeline->steps.at(0).spec;
  ASSERT_TRUE(spec.is_sweep());
  EXPECT_EQ(shell_of(spec), "x ${{search_space.lr}} 3");
}

TEST(SweepFile, ATrialWithPortsIsAComponent) {
  const JobFile job = read_sweep(R"(type: sweep
trial:
  type: command
  inputs: {lr: {type: number}}
  command: x ${{inputs.lr}}
sampling_algorithm: random
search_space: {lr: {type: normal, mu: 0, sigma: 1}}
objective: {goal: maximize, primary_metric: auc}
limits: {max_total_trials: 3}
)");
  ASSERT_TRUE(job.spec.is_sweep());
  EXPECT_EQ(shell_of(job.spec), "x ${{search_space.lr}}");
}

TEST(SweepFile, WithoutATypeItsTrialMakesASweep) {
  std::string text = kHello;
  text.erase(0, text.find("trial:"));
  EXPECT_TRUE(read_sweep(text).spec.is_sweep());
}

}  // namespace
}  // namespace lockstep::spec
