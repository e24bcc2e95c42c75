// Pipelines that are read: their steps, what these are bound to, and in which order they come.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/domain/job/pipeline.h"
#include "launcher/files/job_file.h"
#include "launcher/files/pipeline/step_tree.h"
#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {
namespace {

JobFile read(const std::string& text, const Files& files = {},
             const std::vector<std::string>& overrides = {}) {
  auto job = parse_job("jobs/job.yml", text, overrides, from(files));
  if (!job) {
    ADD_FAILURE() << job.error().message;
    return {};
  }
  const Status valid = validate(job->spec);
  EXPECT_TRUE(valid) << valid.error().message;
  EXPECT_EQ(job->steps.size(), job->spec.pipeline ? job->spec.pipeline->steps.size() : 0u);
  return *std::move(job);
}

const PipelineStep& step(const JobFile& job, const std::string& name) {
  static const PipelineStep none;
  if (!job.spec.pipeline) return none;
  for (const PipelineStep& one : job.spec.pipeline->steps)
    if (one.name == name) return one;
  ADD_FAILURE() << "no step " << name;
  return none;
}

std::string shell(const PipelineStep& step) {
  return std::get<ShellCommand>(step.spec.command).text;
}

std::string order(const JobFile& job) {
  std::string names;
  if (job.spec.pipeline)
    for (const PipelineStep& one : job.spec.pipeline->steps)
      names += (names.empty() ? "" : " ") + one.name;
  return names;
}

const std::string kTrain =
    R"($schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
type: command
name: train
version: 1
display_name: Train a model
is_deterministic: false
inputs:
  data: {type: uri_folder, mode: download}
  lr: {type: number, default: 1e-3, min: 0, max: 1}
  kind: {type: string, optional: true, enum: [fast, slow]}
outputs:
  model: {type: mlflow_model}
code: ./src
environment: azureml:torch:1
environment_variables: {A: 1, B: 2}
resources: {instance_count: 2, shm_size: 4g}
distribution: {type: pytorch, process_count_per_instance: 4}
command: >-
  train --data ${{inputs.data}} --lr ${{inputs.lr}} $[[--kind ${{inputs.kind}}]]
  --out ${{outputs.model}}
)";

TEST(PipelineFile, StepsAreBoundToInputsAndToEachOther) {
  const auto job = read(R"(
type: pipeline
name: iris
display_name: Iris
experiment_name: flowers
description: d
tags: {a: b}
compute: azureml:cpu-cluster
settings: {continue_on_step_failure: false}
inputs:
  raw: {type: uri_file, path: 'azureml:iris:1'}
  lr: 0.1
outputs:
  model: {mode: upload}
jobs:
  train:
    command: train ${{inputs.data}} ${{inputs.lr}} ${{inputs.note}} ${{outputs.model}}
    inputs:
      data: ${{parent.jobs.prepare.outputs.clean}}
      lr: ${{parent.inputs.lr}}
      note: lr-${{ parent.inputs.lr }}-of-${{parent.jobs.prepare.inputs.parts}}
    outputs: {model: '${{parent.outputs.model}}'}
    compute: gpu-cluster
  prepare:
    type: command
    command: prepare ${{inputs.raw}} ${{outputs.clean}} ${{inputs.parts}}
    inputs: {raw: '${{parent.inputs.raw}}', parts: 3}
    outputs: {clean: {type: uri_file}}
)");
  EXPECT_EQ(order(job), "prepare train");
  EXPECT_EQ(job.spec.name, "iris");
  EXPECT_EQ(job.spec.experiment_name, "flowers");
  EXPECT_EQ(job.spec.inputs, (std::map<std::string, std::string>{{"lr", "0.1"}}));
  ASSERT_EQ(job.spec.data.size(), 1u);
  EXPECT_EQ(job.spec.data[0].source, "azureml:iris:1");
  EXPECT_FALSE(job.spec.pipeline->continue_on_step_failure);
  const std::vector<PipelineOutput> outputs = {{"model", "train", "model"}};
  EXPECT_EQ(job.spec.pipeline->outputs, outputs);

  const PipelineStep& prepare = step(job, "prepare");
  EXPECT_EQ(prepare.spec.compute, "cpu-cluster");
  EXPECT_EQ(prepare.spec.experiment_name, "flowers");
  EXPECT_EQ(
      prepare.spec.data,
      (std::vector<DataInput>{
          {"raw", InputType::uri_file, InputMode::ro_mount, "azureml:iris:1", {}, "", "", false}}));
  EXPECT_EQ(shell(prepare), "prepare ${{inputs.raw}} ${{outputs.clean}} 3");
  EXPECT_EQ(prepare.spec.outputs, (std::vector<OutputSpec>{{"clean", OutputType::uri_file}}));
  EXPECT_TRUE(prepare.reuse);

  const PipelineStep& train = step(job, "train");
  EXPECT_EQ(train.spec.compute, "gpu-cluster");
  EXPECT_EQ(shell(train), "train ${{inputs.data}} 0.1 lr-0.1-of-3 ${{outputs.model}}");
  EXPECT_EQ(train.bindings, (std::vector<StepBinding>{{"data", "prepare", "clean"}}));
  ASSERT_EQ(train.spec.data.size(), 1u);
  EXPECT_EQ(train.spec.data[0].type, InputType::uri_file);
  EXPECT_FALSE(train.spec.data[0].tree);
  EXPECT_EQ(job.steps[0].compute_where, "jobs/job.yml:8:10");
}

TEST(PipelineFile, AComponentsKeysHaveTheStepsOverThem) {
  const auto job = read(R"(
jobs:
  train:
    component: ./parts/train.yml
    compute: azureml:${{parent.inputs.where}}
    inputs:
      data: {path: 'azureml:iris:1', mode: ro_mount}
      kind: fast
    environment_variables: {B: 3, LR: 'x${{parent.inputs.lr}}'}
    resources: {instance_count: 1}
    distribution: {type: mpi}
    limits: {timeout: 60}
    outputs: {model: {mode: upload}}
    lockstep: {retry: {max: 1}}
inputs: {where: big-cluster, lr: {type: number, default: 5e-1}}
)",
                        {{"jobs/parts/train.yml", kTrain}});
  const PipelineStep& train = step(job, "train");
  EXPECT_EQ(shell(train),
            "train --data ${{inputs.data}} --lr 0.001 --kind fast --out ${{outputs.model}}");
  EXPECT_EQ(train.spec.compute, "big-cluster");
  EXPECT_EQ(train.spec.environment_variables,
            (std::map<std::string, std::string>{{"A", "1"}, {"B", "3"}, {"LR", "x0.5"}}));
  EXPECT_EQ(train.spec.resources.instance_count, 1);
  EXPECT_EQ(train.spec.resources.shm_size, gibibytes(4));
  EXPECT_EQ(train.spec.distribution, (Distribution{Distribution::Kind::mpi, 1}));
  EXPECT_EQ(train.spec.timeout, seconds(60));
  EXPECT_EQ(train.spec.retry.max, 1);
  ASSERT_EQ(train.spec.data.size(), 1u);
  EXPECT_EQ(train.spec.data[0].type, InputType::uri_folder);
  EXPECT_EQ(train.spec.data[0].mode, InputMode::ro_mount);
  OutputSpec model{"model", OutputType::uri_folder, OutputMode::upload};
  model.declared = InputType::mlflow_model;
  EXPECT_EQ(train.spec.outputs, std::vector<OutputSpec>{model});
  EXPECT_FALSE(train.reuse) << "is_deterministic: false";
  ASSERT_TRUE(job.steps[0].environment);
  EXPECT_EQ(job.steps[0].environment->text, "torch:1");
  EXPECT_EQ(job.steps[0].environment->where, "jobs/parts/train.yml:14:14");
  EXPECT_EQ(job.steps[0].code_dir, "./src");
}

TEST(PipelineFile, NumbersOfAStepMayBeBoundToInputs) {
  const std::string inner = R"(
type: pipeline
inputs: {n: {type: integer}}
jobs:
  deep:
    command: x
    resources: {instance_count: '${{parent.inputs.n}}', shm_size: '${{parent.inputs.n}}g'}
)";
  const auto job = read(R"(
inputs: {n: 2, t: {type: integer, default: 30}}
jobs:
  train:
    command: x
    resources: {instance_count: '${{parent.inputs.n}}'}
    distribution: {type: pytorch, process_count_per_instance: '${{parent.inputs.n}}'}
    limits: {timeout: '${{parent.inputs.t}}'}
    lockstep: {resources: {memory: '${{parent.inputs.n}}g'}}
  nest: {component: ./inner.yml, inputs: {n: '1${{parent.inputs.n}}'}}
)",
                        {{"jobs/inner.yml", inner}});
  const PipelineStep& train = step(job, "train");
  EXPECT_EQ(train.spec.resources.instance_count, 2);
  EXPECT_EQ(train.spec.distribution.processes_per_node, 2);
  EXPECT_EQ(train.spec.timeout, seconds(30));
  EXPECT_EQ(train.spec.resources.memory, gibibytes(2));
  EXPECT_EQ(step(job, "nest.deep").spec.resources.instance_count, 12);
  EXPECT_EQ(step(job, "nest.deep").spec.resources.shm_size, gibibytes(12));
}

TEST(PipelineFile, OptionalInputsAreLeftOutOfTheCommand) {
  const std::string component = R"(
inputs:
  a: {type: integer, optional: true}
  b: {type: string, optional: true}
command: run $[[--a ${{inputs.a}}]] $[[--both ${{inputs.a}} ${{inputs.b}}]] $[[ -z $x ]]
)";
  const auto job = read(R"(
type: pipeline
inputs: {c: {type: integer, optional: true}}
jobs:
  none: {component: file:c.yml}
  one: {component: file:c.yml, inputs: {a: 1}}
  two: {component: file:c.yml, inputs: {a: 1, b: x}}
  bound: {component: file:c.yml, inputs: {a: '${{parent.inputs.c}}', b: y}}
)",
                        {{"jobs/c.yml", component}});
  EXPECT_EQ(shell(step(job, "none")), "run   $[[ -z $x ]]");
  EXPECT_EQ(shell(step(job, "one")), "run --a 1  $[[ -z $x ]]");
  EXPECT_EQ(shell(step(job, "two")), "run --a 1 --both 1 x $[[ -z $x ]]");
  EXPECT_EQ(shell(step(job, "bound")), "run   $[[ -z $x ]]");
}

const std::string kInner = R"(
type: pipeline
inputs:
  raw: {type: uri_folder}
  lr: {type: number}
outputs:
  model: {type: mlflow_model}
settings: {default_compute: inner-cluster, force_rerun: true}
jobs:
  clean:
    command: clean ${{inputs.raw}} ${{outputs.out}}
    inputs: {raw: '${{parent.inputs.raw}}'}
    outputs: {out: }
  fit:
    component: train.yml
    inputs: {data: '${{parent.jobs.clean.outputs.out}}', lr: '${{parent.inputs.lr}}'}
    outputs: {model: '${{parent.outputs.model}}'}
)";

TEST(PipelineFile, NestedPipelinesAreFlattened) {
  const Files files = {{"jobs/parts/inner.yml", kInner}, {"jobs/parts/train.yml", kTrain}};
  const std::string text = R"(
type: pipeline
inputs: {raw: {path: 'azureml:iris:1'}}
outputs: {best: '${{parent.jobs.second.outputs.model}}'}
jobs:
  score:
    type: command
    command: score ${{inputs.model}}
    inputs: {model: {type: mlflow_model, path: '${{parent.jobs.first.outputs.model}}'}}
  first:
    type: pipeline
    component: ./parts/inner.yml
    inputs: {raw: '${{parent.inputs.raw}}', lr: 0.5}
  second:
    component: ./parts/inner.yml
    inputs: {raw: '${{parent.inputs.raw}}', lr: '${{parent.jobs.first.inputs.lr}}'}
  third:
    type: pipeline
    inputs: {m: '${{parent.jobs.second.outputs.model}}', n: 4}
    jobs:
      look: {command: 'look ${{inputs.m}} ${{inputs.n}}',
             inputs: {m: '${{parent.inputs.m}}', n: '${{parent.inputs.n}}'}}
)";
  const auto job = read(text, files);
  EXPECT_EQ(order(job), "first.clean first.fit score second.clean second.fit third.look");
  EXPECT_EQ(step(job, "score").bindings,
            (std::vector<StepBinding>{{"model", "first.fit", "model"}}));
  EXPECT_EQ(step(job, "second.fit").bindings,
            (std::vector<StepBinding>{{"data", "second.clean", "out"}}));
  EXPECT_EQ(step(job, "second.fit").spec.inputs.at("lr"), "0.5");
  EXPECT_EQ(step(job, "third.look").bindings,
            (std::vector<StepBinding>{{"m", "second.fit", "model"}}));
  EXPECT_EQ(shell(step(job, "third.look")), "look ${{inputs.m}} 4");
  EXPECT_EQ(step(job, "first.clean").spec.data[0].source, "azureml:iris:1");
  EXPECT_EQ(step(job, "first.clean").spec.compute, "inner-cluster");
  EXPECT_FALSE(step(job, "first.clean").reuse);
  EXPECT_TRUE(step(job, "score").reuse);
  EXPECT_EQ(job.spec.pipeline->outputs,
            (std::vector<PipelineOutput>{{"best", "second.fit", "model"}}));

  const auto other = read(text, files,
                          {"jobs.second.inputs.lr=0.25", "jobs.first.jobs.clean.compute=other",
                           "jobs.third.jobs.look.inputs.n=9", "settings.force_rerun=true"});
  EXPECT_EQ(step(other, "second.fit").spec.inputs.at("lr"), "0.25");
  EXPECT_EQ(step(other, "first.clean").spec.compute, "other");
  EXPECT_EQ(step(other, "second.clean").spec.compute, "inner-cluster");
  EXPECT_EQ(shell(step(other, "third.look")), "look ${{inputs.m}} 9");
  EXPECT_FALSE(step(other, "score").reuse);
}

TEST(PipelineFile, APipelineComponentMayBeTheJob) {
  const auto job = read(
      "type: pipeline\ncomponent: ./parts/inner.yml\n"
      "inputs: {raw: {path: 'azureml:iris:1'}, lr: 1}\n",
      {{"jobs/parts/inner.yml", kInner}, {"jobs/parts/train.yml", kTrain}});
  EXPECT_EQ(order(job), "clean fit");
  EXPECT_EQ(job.spec.pipeline->outputs, (std::vector<PipelineOutput>{{"model", "fit", "model"}}));
}

TEST(PipelineFile, SettingsThatAreUnknownAreNoted) {
  const auto job = read(
      "type: pipeline\nsettings: {default_datestore: a, other: 1}\n"
      "jobs: {a: {command: x}}\n");
  const Notes wanted = {
      "jobs/job.yml:2:12: 'settings.default_datestore' is not used; did you mean "
      "'default_datastore'?",
      "jobs/job.yml:2:34: 'settings.other' is not used"};
  EXPECT_EQ(job.notes, wanted);
}

TEST(PipelineFile, OutputsOfStepsMayBeInDatastores) {
  const auto job = read(R"(
outputs:
  model: {path: 'azureml://datastores/lake/paths/best'}
  report: {path: 'azureml://datastores/${{default_datastore}}/paths/r'}
settings: {default_datastore: azureml:scratch}
jobs:
  a:
    command: x
    outputs:
      o: {path: 'azureml://datastores/${{ default_datastore }}/paths/${{name}}'}
      m: {path: '${{parent.outputs.model}}', mode: mount}
  b:
    type: pipeline
    settings: {default_datastore: other}
    outputs: {r: '${{parent.outputs.report}}'}
    jobs:
      c:
        command: x
        outputs:
          r: '${{parent.outputs.r}}'
          o: {path: 'azureml://datastores/${{default_datastore}}/paths/o'}
)");
  const auto path = [&](const char* name, std::size_t output) {
    return step(job, name).spec.outputs.at(output).path;
  };
  EXPECT_EQ(path("a", 0), "azureml://datastores/scratch/paths/${{name}}");
  EXPECT_EQ(path("a", 1), "azureml://datastores/lake/paths/best");
  EXPECT_EQ(step(job, "a").spec.outputs[1].mode, OutputMode::rw_mount);
  EXPECT_EQ(path("b.c", 1), "azureml://datastores/other/paths/o");
  EXPECT_EQ(path("b.c", 0), "azureml://datastores/other/paths/r");
}

TEST(PipelineFile, StepsMayRunBeforeAndAfterAllOthers) {
  const auto job = read(
      "settings: {on_init: begin, on_finalize: azureml:end}\n"
      "jobs: {end: {command: x}, a: {command: x}, begin: {command: x}}\n");
  EXPECT_EQ(step(job, "begin").role, StepRole::on_init);
  EXPECT_EQ(step(job, "end").role, StepRole::on_finalize);
  EXPECT_EQ(step(job, "a").role, StepRole::main);
  EXPECT_EQ(order(job), "begin a end");
}

TEST(PipelineFile, TheArtifactsOfAStepAreAnOutput) {
  const auto job = read(
      "jobs:\n"
      "  a: {command: x, outputs: {artifacts: }}\n"
      "  b: {command: x, inputs: {all: '${{parent.jobs.a.outputs.artifacts}}'}}\n"
      "  c: {command: x, inputs: {all: '${{parent.jobs.b.outputs.artifacts}}'}}\n");
  EXPECT_TRUE(step(job, "a").spec.outputs.empty());
  EXPECT_EQ(step(job, "b").bindings, (std::vector<StepBinding>{{"all", "a", "artifacts"}}));
  EXPECT_EQ(step(job, "c").bindings, (std::vector<StepBinding>{{"all", "b", "artifacts"}}));
}

TEST(PipelineFile, AFileMayBeReadAsAFolder) {
  const auto job = read(
      "jobs:\n"
      "  a: {command: x, outputs: {o: {type: uri_file}}}\n"
      "  b: {component: {command: x, inputs: {i: {type: uri_folder}}}, inputs: {i: "
      "'${{parent.jobs.a.outputs.o}}'}}\n");
  EXPECT_EQ(step(job, "b").spec.data[0].type, InputType::uri_folder);
}

// As in two of Azure's own examples, whose components declare a table.
TEST(PipelineFile, ATableMayBeGivenAsAFolderAndAFolderAsATable) {
  const auto job = read(
      "inputs:\n"
      "  folder: {type: uri_folder, path: 'azureml:raw:1'}\n"
      "  table: {type: mltable, path: 'azureml:tbl:1'}\n"
      "outputs: {all: {type: uri_folder}}\n"
      "jobs:\n"
      "  a:\n"
      "    component: {command: x, inputs: {i: {type: mltable}}, outputs: {o: {type: mltable}}}\n"
      "    inputs: {i: '${{parent.inputs.folder}}'}\n"
      "    outputs: {o: '${{parent.outputs.all}}'}\n"
      "  b:\n"
      "    component: {command: x, inputs: {i: {type: uri_folder}}, outputs: {o: {type: "
      "mltable}}}\n"
      "    inputs: {i: '${{parent.inputs.table}}'}\n"
      "    outputs: {o: {type: uri_folder}}\n"
      "  c:\n"
      "    component: {command: x, inputs: {i: {type: mltable}, j: {type: uri_folder}}}\n"
      "    inputs: {i: '${{parent.jobs.b.outputs.o}}', j: '${{parent.jobs.a.outputs.o}}'}\n");
  EXPECT_EQ(step(job, "a").spec.data[0].type, InputType::uri_folder);
  EXPECT_EQ(step(job, "b").spec.data[0].type, InputType::mltable);
  EXPECT_EQ(step(job, "c").bindings.size(), 2u);
}

TEST(PipelineFile, AnInputThatTheComponentDoesNotTakeIsNoted) {
  const Files files{
      {"jobs/train.yml", "command: x ${{inputs.rate}}\ninputs: {rate: {type: number}}\n"},
      {"jobs/alone.yml", "command: x\n"}};
  const auto job = read(
      "jobs:\n  a: {component: train.yml, inputs: {rate: 1, label: night}}\n"
      "  b: {component: alone.yml, inputs: {x: 1}}\n",
      files);
  EXPECT_EQ(
      job.notes,
      (Notes{"jobs/job.yml:2:47: train.yml has no input 'label'; this value is not used",
             "jobs/job.yml:3:38: alone.yml has no input 'x'; it declares no inputs; this value "
             "is not used"}));
  EXPECT_TRUE(step(job, "a").spec.inputs.contains("rate"));
  EXPECT_FALSE(step(job, "a").spec.inputs.contains("label"));
  // A --set is there to have an effect.
  const auto set = parse_job("job.yml", "jobs:\n  a: {component: alone.yml}\n",
                             {"jobs.a.inputs.label=night"}, from({{"alone.yml", "command: x\n"}}));
  ASSERT_FALSE(set);
  EXPECT_EQ(
      set.error().message,
      "--set jobs.a.inputs.label=night: alone.yml has no input 'label'; it declares no inputs");
}

TEST(PipelineFile, ACommandJobMayNameAComponent) {
  const auto job = read(
      "type: command\nname: digits\nexperiment_name: e\ndisplay_name: d\n"
      "component: ./parts/train.yml\ncompute: azureml:big-cluster\n"
      "inputs: {data: {path: 'azureml:iris:1'}, kind: slow}\nlockstep: {project: vision}\n",
      {{"jobs/parts/train.yml", kTrain}});
  EXPECT_FALSE(job.spec.pipeline);
  EXPECT_EQ(job.spec.name, "digits");
  EXPECT_EQ(job.spec.display_name, "d");
  EXPECT_EQ(job.spec.experiment_name, "e");
  EXPECT_EQ(job.spec.project, "vision");
  EXPECT_EQ(job.spec.compute, "big-cluster");
  EXPECT_EQ(std::get<ShellCommand>(job.spec.command).text,
            "train --data ${{inputs.data}} --lr 0.001 --kind slow --out ${{outputs.model}}");
  EXPECT_EQ(job.code_dir, "./src");
}

// ---- sizes --------------------------------------------------------------------------------------

TEST(PipelineSizes, AChainOfTenThousandStepsIsRead) {
  std::string text = "type: pipeline\njobs:\n  s0: {component: c.yml, inputs: {n: 1}}\n";
  for (int i = 1; i < 10'000; ++i)
    text += fmt::format(
        "  s{}: {{component: c.yml, inputs: {{n: '${{{{parent.jobs.s{}.inputs.n}}}}'}}}}\n", i,
        i - 1);
  const auto job =
      read(text, {{"jobs/c.yml", "command: x ${{inputs.n}}\ninputs: {n: {type: integer}}\n"}});
  ASSERT_TRUE(job.spec.pipeline);
  EXPECT_EQ(job.spec.pipeline->steps.size(), 10'000u);
  EXPECT_EQ(shell(step(job, "s9999")), "x 1");
}

TEST(PipelineSizes, StepsMayBeBoundInAChainInAnyOrder) {
  std::string text = "type: pipeline\njobs:\n";
  for (int i = 2'000; i > 0; --i)
    text += fmt::format(
        "  s{}: {{command: x, outputs: {{o: }}, inputs: {{i: "
        "'${{{{parent.jobs.s{}.outputs.o}}}}'}}}}\n",
        i, i - 1);
  const auto job = read(text + "  s0: {command: x, outputs: {o: }}\n");
  EXPECT_TRUE(order(job).starts_with("s0 s1 s2 s3 "));
}

std::string nested(int depth) {
  std::string text = "type: pipeline\njobs: ";
  for (int i = 1; i < depth; ++i) text += "{p: {type: pipeline, jobs: ";
  text += "{leaf: {command: x}}";
  for (int i = 1; i < depth; ++i) text += "}}";
  return text + "\n";
}

TEST(PipelineSizes, FiftyPipelinesMayBeInEachOther) {
  const auto job = read(nested(kMaxPipelineDepth));
  ASSERT_TRUE(job.spec.pipeline);
  EXPECT_TRUE(job.spec.pipeline->steps[0].name.ends_with("p.p.leaf"));
  const auto deeper = parse_job("job.yml", nested(kMaxPipelineDepth + 1));
  ASSERT_FALSE(deeper);
  EXPECT_NE(deeper.error().message.find("pipelines are nested more than 50 deep"),
            std::string::npos)
      << deeper.error().message;
}

TEST(PipelineSizes, ComponentsThatMultiplyAreStopped) {
  Files files;
  for (int i = 0; i < 30; ++i) {
    std::string& text = files[fmt::format("c{}.yml", i)] = "type: pipeline\njobs:\n";
    for (int k = 0; k < 8; ++k) text += fmt::format("  s{}: {{component: c{}.yml}}\n", k, i + 1);
  }
  files["c30.yml"] = "command: x\n";
  const auto job = parse_job("job.yml", "jobs: {a: {component: c0.yml}}\n", {}, from(files));
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().message.find("the pipeline has more than 10000 steps"), std::string::npos)
      << job.error().message;
}

}  // namespace
}  // namespace lockstep::spec
