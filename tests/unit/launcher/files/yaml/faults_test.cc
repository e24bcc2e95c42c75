// All that is wrong with a job file is said at once, in the order of its lines.

#include "launcher/files/yaml/faults.h"

#include <gtest/gtest.h>

#include "launcher/files/job_file.h"

namespace lockstep::spec {
namespace {

std::string errors_in(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto job = parse_job("job.yml", text, overrides);
  return job ? "" : job.error().message;
}

TEST(Faults, AllOfAFileAreSaidInTheOrderOfItsLines) {
  EXPECT_EQ(
      errors_in("comamnd: python train.py\n"
                "environment:\n"
                "  imagee: debian:12\n"
                "  os_typ: linux\n"
                "resources:\n"
                "  instance_count: many\n"
                "  locations: [westeurope]\n"
                "distribution: {type: pytroch}\n"
                "limits: {timeout: soon}\n"
                "compute: azureml:gpu_cluster\n"
                "lockstep: {retry: {max: -1, on: sometimes}}\n"),
      "job.yml:1:1: unknown key 'comamnd'; did you mean 'command'?\n"
      "job.yml:3:3: unknown key 'environment.imagee'; did you mean 'environment.image'?\n"
      "job.yml:4:3: unknown key 'environment.os_typ'; did you mean 'environment.os_type'?\n"
      "job.yml:6:19: 'resources.instance_count': 'many' is not a whole number\n"
      "job.yml:7:3: 'resources.locations' is not supported yet; choose a target with `compute`, "
      "or nodes with `lockstep.labels`\n"
      "job.yml:8:22: 'distribution.type': unknown word 'pytroch'; it must be mpi, pytorch, "
      "tensorflow or ray; did you mean 'pytorch'?\n"
      "job.yml:9:19: 'limits.timeout': 'soon' is not a time; write seconds, or 90s, 5m, 2h, "
      "1d\n"
      "job.yml:10:10: 'compute': 'gpu_cluster' cannot be the name of a compute target: it "
      "needs 3 to 24 letters, digits and '-', and begins with a letter\n"
      "job.yml:11:25: lockstep.retry.max: is -1; must be 0 to 1000\n"
      "job.yml:11:33: 'lockstep.retry.on': unknown word 'sometimes'; it must be an exit code "
      "or one of infrastructure, node_lost, runner_lost, out_of_memory, signal, timeout, "
      "exit_code, never");
}

TEST(Faults, WhatFollowsFromAnotherIsNotSaid) {
  EXPECT_EQ(errors_in("command: echo ${{inputs.lr}}\ninputs: {lr: [1, 2]}\n"),
            "job.yml:2:14: 'inputs.lr' must be a string, not a list");
  EXPECT_EQ(errors_in("command: [true]\n"), "job.yml:1:10: 'command' must be a string, not a list");
  EXPECT_EQ(errors_in("command: x\ndistribution: {tpye: mpi}\n"),
            "job.yml:2:16: unknown key 'distribution.tpye'; did you mean 'distribution.type'?");
  EXPECT_EQ(errors_in("type: pipeline\njobs: {a: {}}\ncomamnd: x\n"),
            "job.yml:2:11: the required key 'command' is missing; say what to run\n"
            "job.yml:3:1: unknown key 'comamnd'; did you mean 'command'?")
      << "another kind of file has other keys";
}

TEST(Faults, ThoseOfTheCommandLineComeLast) {
  EXPECT_EQ(
      errors_in("command: x\nflavour: sweet\n",
                {"resources.instance_count=none", "nonsense", "experiment=e"}),
      "job.yml:2:1: unknown key 'flavour'\n"
      "--set nonsense: is not of the form key=value or key.key=value\n"
      "--set resources.instance_count=none: 'resources.instance_count': 'none' is not a whole "
      "number\n"
      "--set experiment=e: unknown key 'experiment'");
}

TEST(Faults, TwentyAreShownAndTheOthersCounted) {
  std::string text = "command: x\n";
  for (int i = 0; i < 23; ++i) text += "zzzz_" + std::to_string(i) + ": 1\n";
  const auto job = parse_job("job.yml", text);
  ASSERT_FALSE(job);
  const auto faults = faults_of(job.error());
  ASSERT_EQ(faults.size(), 21u);
  EXPECT_EQ(faults[0].message, "job.yml:2:1: unknown key 'zzzz_0'");
  EXPECT_EQ(faults[19].message, "job.yml:21:1: unknown key 'zzzz_19'");
  EXPECT_EQ(faults[20].message, "and 3 more");
}

// What `az ml job show` and the SDK's dump write of a command job that uses none of it.
TEST(EmptyKeys, AreTakenAsAzureWritesThem) {
  EXPECT_EQ(errors_in("command: x\n"
                      "properties: {}\n"
                      "parameters: {}\n"
                      "tags: {}\n"
                      "inputs: {}\n"
                      "outputs: {model: {type: uri_folder, path: null}}\n"
                      "services: {}\n"
                      "identity: null\n"
                      "queue_settings: {}\n"
                      "environment_variables: {}\n"
                      "distribution: null\n"
                      "limits: null\n"
                      "resources: {instance_count: 1, properties: {}, locations: []}\n"
                      "environment: {interpreter: python3, properties: {}}\n"),
            "");
}

// They are of Azure's own examples, and the job is the same without them.
TEST(UnusedKeys, AreReadAndNamed) {
  const auto job = parse_job("job.yml",
                             "command: x\n"
                             "identity: {type: user_identity}\n"
                             "services: {shell: {type: ssh, ssh_public_keys: a}}\n"
                             "properties: {a: b}\n");
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->notes.size(), 3u);
  EXPECT_EQ(job->notes[0],
            "job.yml:2:1: 'identity' has no effect: a job runs as the account of its user on the "
            "nodes, and the operator's datastores bring their own credentials");
  EXPECT_EQ(job->notes[1].rfind("job.yml:3:1: 'services' has no effect: ", 0), 0u);
  EXPECT_EQ(job->notes[2],
            "job.yml:4:1: 'properties' has no effect: write what you want to note into `tags`");
}

TEST(Scripts, AreRecognisedAndToldWhatToType) {
  const auto said = [](const std::string& name, const std::string& text) {
    const auto job = parse_job(name, text);
    return job ? "" : job.error().message;
  };
  EXPECT_EQ(said("src/train.py", "import torch\n"),
            "src/train.py:1:1: is a Python program, not a job file (YAML); type: lockstep run -- "
            "python3 src/train.py");
  EXPECT_EQ(
      said("run", "#!/usr/bin/env python3\n"),
      "run:1:1: is a Python program, not a job file (YAML); type: lockstep run -- python3 run");
  EXPECT_EQ(
      said("run.sh", "echo hi\n"),
      "run.sh:1:1: is a shell script, not a job file (YAML); type: lockstep run -- bash run.sh");
  EXPECT_EQ(
      said("my run", "#!/bin/sh\necho hi\n"),
      "my run:1:1: is a shell script, not a job file (YAML); type: lockstep run -- sh 'my run'");
  EXPECT_EQ(said("/data/my project/run.sh", "echo hi\n"),
            "/data/my project/run.sh:1:1: is a shell script, not a job file (YAML); type: lockstep "
            "run --code '/data/my project' -- bash run.sh");
  EXPECT_EQ(said("../run.sh", "echo hi\n"),
            "../run.sh:1:1: is a shell script, not a job file (YAML); type: lockstep run --code .. "
            "-- bash run.sh");
  EXPECT_EQ(said("train.sbatch",
                 "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node 4\nsrun ./a\n"),
            "train.sbatch:1:1: is a Slurm batch script, not a job file (YAML); type: lockstep run "
            "--sbatch "
            "train.sbatch");
  EXPECT_EQ(said("job", "command: true\n"), "") << "a job file needs no extension";
  EXPECT_EQ(said("job.yml", "#!/usr/bin/env lockstep\ncommand: true\n"), "");
}

}  // namespace
}  // namespace lockstep::spec
