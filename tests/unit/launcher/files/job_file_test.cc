#include "launcher/files/job_file.h"
#include "tests/unit/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lockstep::spec {
namespace {

JobFile good(const std::string& text, const std::vector<std::string>& overrides = {}) {
  auto job = parse_job("job.yml", text, overrides);
  if (!job) {
    ADD_FAILURE() << job.error().message;
    return {};
  }
  return *std::move(job);
}

std::string shell(const JobFile& job) { return std::get<ShellCommand>(job.spec.command).text; }

TEST(JobFile, OutputsHaveATypeAndAModeAndTheirExpressionsStayForTheNode) {
  const auto job = good(
      "command: train ${{outputs.model}} ${{ outputs.report }} ${{inputs.lr}}\n"
      "environment_variables: {OUT: 'to ${{outputs.model}}'}\n"
      "inputs: {lr: 1}\n"
      "outputs:\n"
      "  model:\n"
      "  report: {type: URI_FILE, mode: upload}\n"
      "  other: {type: }\n");
  const std::vector<OutputSpec> wanted = {{"model", OutputType::uri_folder, OutputMode::rw_mount},
                                          {"report", OutputType::uri_file, OutputMode::upload},
                                          {"other", OutputType::uri_folder, OutputMode::rw_mount}};
  EXPECT_EQ(job.spec.outputs, wanted);
  EXPECT_EQ(shell(job), "train ${{outputs.model}} ${{outputs.report}} 1");
  EXPECT_EQ(job.spec.environment_variables.at("OUT"), "to ${{outputs.model}}");
}

TEST(JobFile, ReadsEveryKeyThatIsSupported) {
  const auto job =
      good(R"($schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
type: command
name: digits-1
display_name: Digits
experiment_name: handwriting
description: |
  A small network.
tags:
  owner: ada
  year: 2026
command: >-
  python train.py
  --lr ${{inputs.lr}} --epochs ${{ inputs.epochs }}
code: ./src
inputs:
  lr: 1e-3
  epochs: 5
  fast: true
environment_variables:
  OMP_NUM_THREADS: 1
  EPOCHS: "n=${{inputs.epochs}}"
  EMPTY: ""
distribution:
  type: PyTorch
  process_count_per_instance: "4"
resources:
  instance_count: '2'
compute: azureml:local
limits:
  timeout: 90
lockstep:
  resources: {cpus: 4, memory: 2g, gpus: 4}
  gpus_per_rank: isolated
  retry: {max: 1, on: [node_lost, 75, exit_code: [3, 4]], backoff: 5s, on_lost: after_fence}
  checkpoint: {every: 30}
  keep: ["*.pt", checkpoints/, "!*.tmp"]
)");
  JobSpec want;
  want.name = "digits-1";
  want.display_name = "Digits";
  want.experiment_name = "handwriting";
  want.description = "A small network.\n";
  want.tags = {{"owner", "ada"}, {"year", "2026"}};
  want.compute = "local";
  want.command = ShellCommand{"python train.py --lr 1e-3 --epochs 5"};
  want.inputs = {{"lr", "1e-3"}, {"epochs", "5"}, {"fast", "True"}};
  want.environment_variables = {{"OMP_NUM_THREADS", "1"}, {"EPOCHS", "n=5"}, {"EMPTY", ""}};
  want.distribution = {Distribution::Kind::pytorch, 4};
  want.resources.instance_count = 2;
  want.resources.cpus = 4;
  want.resources.memory = gibibytes(2);
  want.resources.gpus = 4;
  want.resources.isolate_gpus = true;
  want.timeout = seconds(90);
  want.retry = {1, {RetryOn::node_lost}, {75, 3, 4}, seconds(5), OnLost::after_fence};
  want.checkpoint.every = seconds(30);
  want.keep = {"*.pt", "checkpoints/", "!*.tmp"};
  EXPECT_EQ(job.spec, want);
  EXPECT_EQ(job.code_dir, "./src");
}

TEST(JobFile, DefaultsAreAzures) {
  const auto job = good("command: hostname\n");
  EXPECT_EQ(job.spec.experiment_name, "Default");
  EXPECT_EQ(job.spec.distribution, (Distribution{Distribution::Kind::none, 1}));
  EXPECT_EQ(job.spec.resources, ResourceRequest{});
  EXPECT_FALSE(job.spec.timeout);
  EXPECT_FALSE(job.code_dir);
  EXPECT_EQ(good("command: x\ndistribution: {type: mpi}\n").spec.distribution.processes_per_node,
            1);
}

TEST(JobFile, HangsAndCoreFiles) {
  const JobSpec plain = good("command: x\n").spec;
  EXPECT_EQ(plain.hang, HangPolicy{});
  EXPECT_EQ(plain.core, CoreFile::off);
  const JobSpec spec =
      good("command: x\nlockstep: {hang_after: 5m, on_hang: stacks, core: keep}\n").spec;
  EXPECT_EQ(spec.hang, (HangPolicy{minutes(5), OnHang::stacks}));
  EXPECT_EQ(spec.core, CoreFile::keep);
  for (const char* never : {"off", "0"})
    EXPECT_EQ(
        good(std::string("command: x\nlockstep: {hang_after: ") + never + "}\n").spec.hang.after,
        Duration::zero());
}

TEST(JobFile, AJobWithATerminalIsNotTriedAgain) {
  EXPECT_EQ(good("command: x\n").spec.terminal, TerminalKind::none);
  EXPECT_EQ(good("command: x\nlockstep: {terminal: none}\n").spec.retry.max, RetryPolicy{}.max);
  const JobSpec shell = good("command: bash\nlockstep: {terminal: PTY}\n").spec;
  EXPECT_EQ(shell.terminal, TerminalKind::pty);
  EXPECT_EQ(shell.retry.max, 0);
  const JobSpec filter = good("command: sort\nlockstep: {terminal: stdin, retry: {max: 0}}\n").spec;
  EXPECT_EQ(filter.terminal, TerminalKind::input);
  EXPECT_EQ(filter.retry.max, 0);
}

TEST(JobFile, TensorflowHasAWorkerForEachNodeUnlessItSaysOtherwise) {
  const std::string nodes = "command: x\nresources: {instance_count: 2}\ndistribution: ";
  EXPECT_EQ(good(nodes + "{type: tensorflow}\n").spec.distribution, tensorflow_on(2, 2, 0));
  EXPECT_EQ(good(nodes + "{type: TensorFlow, worker_count: 4, parameter_server_count: 1}\n")
                .spec.distribution,
            tensorflow_on(2, 4, 1));
}

TEST(JobFile, RayTakesAzuresKeys) {
  const RaySettings ray = good(
                              "command: x\ndistribution:\n"
                              "  type: ray\n"
                              "  port: 6379\n"
                              "  address: 10.0.0.1\n"
                              "  include_dashboard: true\n"
                              "  dashboard_port: 8265\n"
                              "  head_node_additional_args: --labels 'a=b c'\n"
                              "  worker_node_additional_args: [--verbose]\n")
                              .spec.distribution.ray;
  EXPECT_EQ(ray, (RaySettings{"10.0.0.1", 6379, true, 8265, {"--labels", "a=b c"}, {"--verbose"}}));
}

TEST(JobFile, BindingIsUnderLockstep) {
  EXPECT_EQ(good("command: x\n").spec.binding, Binding::automatic);
  EXPECT_EQ(good("command: x\nlockstep: {binding: numa}\n").spec.binding, Binding::numa);
}

TEST(JobFile, LimitsOfRanksAreUnderLockstep) {
  const auto limits = good("command: x\nlockstep: {limits: {pids: 100, log: 1g, disk: 20g}}\n");
  EXPECT_EQ(limits.spec.limits, (LimitRequest{100, gibibytes(1), gibibytes(20)}));
  EXPECT_EQ(good("command: x\n").spec.limits, LimitRequest{});
}

TEST(JobFile, WhatIsRetriedMayBeWrittenInSeveralWays) {
  const auto on = [](const std::string& text) {
    return good("command: x\nlockstep: {retry: {on: " + text + "}}\n").spec.retry;
  };
  using Words = std::vector<RetryOn>;
  using Codes = std::vector<int>;
  EXPECT_EQ(good("command: x\n").spec.retry, RetryPolicy{});
  EXPECT_EQ(on("Signal").on, Words{RetryOn::signal});
  EXPECT_EQ(on("75").exit_codes, Codes{75});
  EXPECT_EQ(on("75").on, Words{});
  EXPECT_EQ(on("{exit_code: 3}").exit_codes, Codes{3});
  EXPECT_EQ(on("[exit_code, exit_code, 3, '3']").on, Words{RetryOn::exit_code});
  EXPECT_EQ(on("[exit_code, 3, '3']").exit_codes, Codes{3});
  EXPECT_EQ(on("never").on, Words{});
  EXPECT_EQ(on("[]").on, Words{});
  EXPECT_EQ(good("command: x\nlockstep: {retry: {backoff: 0}, checkpoint: {every: 0}}\n")
                .spec.retry.backoff,
            Duration::zero());
}

TEST(JobFile, AcceptsWhatAPersonWouldExpect) {
  EXPECT_EQ(good("command: x\nname: 42\n").spec.name, "42");
  EXPECT_EQ(good("command: x\nlimits: {timeout: 5m}\n").spec.timeout, minutes(5));
  EXPECT_EQ(good("command: x\ntags:\nlimits:\n").spec.tags.size(), 0u);
  EXPECT_EQ(good("\xef\xbb\xbf"
                 "command: x\r\nname: dos\r\n")
                .spec.name,
            "dos");
  EXPECT_EQ(shell(good("{\"command\": \"a\\tb\"}")), "a\tb");
  EXPECT_EQ(shell(good("--- # start\ncommand: x\n...\n")), "x");
  EXPECT_EQ(good("command: x\ntags: {a: &v !!str 1, b: *v}\n").spec.tags.at("b"), "1");
  EXPECT_EQ(shell(good("command: caf\xc3\xa9 ${HOME} $(x) {{a}}\n")),
            "caf\xc3\xa9 ${HOME} $(x) {{a}}");
}

TEST(JobFile, OverridesApplyInOrderBeforeTheChecks) {
  const auto job = good(
      "command: old\nresources: {instance_count: bad}\n",
      {"command=run a=b ${{inputs.lr}}", "resources.instance_count=3", "tags.a=1", "tags.b=x.y",
       "environment_variables={A: 1, B: two}", "inputs.lr=1e-3", "tags.a=2", "description="});
  EXPECT_EQ(shell(job), "run a=b 1e-3");
  EXPECT_EQ(job.spec.resources.instance_count, 3);
  EXPECT_EQ(job.spec.tags, (std::map<std::string, std::string>{{"a", "2"}, {"b", "x.y"}}));
  EXPECT_EQ(job.spec.environment_variables.at("B"), "two");
  EXPECT_EQ(job.spec.inputs.at("lr"), "1e-3");
}

TEST(JobFile, AVariableThatAShellWouldReplaceIsNoted) {
  const auto job = parse_job("job.yml",
                             "command: x\nenvironment_variables:\n  PATH: /x:$PATH\n"
                             "  LR: ${{inputs.lr}}\ninputs: {lr: 1}\n");
  ASSERT_TRUE(job) << job.error().message;
  ASSERT_EQ(job->notes.size(), 1u);
  EXPECT_TRUE(job->notes[0].starts_with(
      "job.yml:3:9: 'environment_variables.PATH': '$PATH' stays as it is"))
      << job->notes[0];
  EXPECT_EQ(job->spec.environment_variables.at("PATH"), "/x:$PATH");
}

class OnDisk : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = dir_ + "/job.yml";
    std::ofstream(path) << text;
    return path;
  }
  const test::TempDir temp_;
  const std::string& dir_ = temp_.path();
};

TEST_F(OnDisk, CodeIsRelativeToTheFile) {
  std::filesystem::create_directory(dir_ + "/src");
  const auto job = load_job(write("command: x\ncode: src\n"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->code_dir, dir_ + "/src");
  const auto here = load_job(write("command: x\ncode: .\n"));
  ASSERT_TRUE(here);
  EXPECT_TRUE(std::filesystem::equivalent(*here->code_dir, dir_));
}

TEST_F(OnDisk, CodeThatIsNotThereIsRefusedWithItsPlace) {
  const std::string path = write("command: x\ncode: ./srv\n");
  const auto missing = load_job(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, path + ":2:7: code './srv' does not exist (" + dir_ + "/srv)");
  ASSERT_EQ(::mkfifo((dir_ + "/srv").c_str(), 0600), 0);
  EXPECT_EQ(load_job(path).error().message,
            path + ":2:7: code './srv' is neither a directory nor a file (" + dir_ + "/srv)");
  EXPECT_EQ(load_job(write("command: x\ncode: azureml:train:1\n")).error().message,
            path + ":2:7: code 'azureml:train:1' is not supported yet; name a local directory");
  EXPECT_EQ(load_job(path, {"code=gone"}).error().message,
            "--set code=gone: code 'gone' does not exist (" + dir_ + "/gone)");
}

TEST_F(OnDisk, CodeMayBeOneFile) {
  std::ofstream(dir_ + "/train.py") << "print(1)";
  const auto job = load_job(write("command: python train.py\ncode: ./train.py\n"));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->code_dir, dir_ + "/train.py");
}

TEST_F(OnDisk, AFileThatIsNotThereIsNamed) {
  const auto job = load_job(dir_ + "/none.yml");
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().message.find(dir_ + "/none.yml"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::spec
