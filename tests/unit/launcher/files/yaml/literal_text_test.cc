// What literal inputs are for their jobs. The values are those of azure-ai-ml 1.35.2 (PyYAML 6.0).

#include "launcher/files/yaml/literal_text.h"

#include <gtest/gtest.h>

#include "common/domain/job/pipeline.h"
#include "launcher/files/job_file.h"

namespace lockstep::spec {
namespace {

std::string literal(const std::string& text) {
  const auto job = parse_job("job.yml", "command: x\ninputs:\n  a: " + text + "\n");
  return job ? job->spec.inputs.at("a") : job.error().message;
}

TEST(LiteralText, IsWhatAzureSends) {
  const std::pair<const char*, const char*> cases[] = {
      {"true", "True"},
      {"TRUE", "True"},
      {"yes", "True"},
      {"on", "True"},
      {"no", "False"},
      {"off", "False"},
      {"False", "False"},
      {"y", "y"},
      {"n", "n"},
      {"0.010", "0.01"},
      {"1.0", "1.0"},
      {"5.", "5.0"},
      {"0.", "0.0"},
      {".5", "0.5"},
      {"-.5", "-.5"},
      {"+.5", "+.5"},
      {"-0.0", "-0.0"},
      {"1e-3", "1e-3"},
      {"1e3", "1e3"},
      {"1.5e3", "1.5e3"},
      {"1.5e+3", "1500.0"},
      {"1.e-3", "0.001"},
      {"0.1e-10", "1e-11"},
      {"0.00001", "1e-05"},
      {"0.0001", "0.0001"},
      {"1.0e+16", "1e+16"},
      {"12345678901234567.0", "1.2345678901234568e+16"},
      {"100000000000000000000.0", "1e+20"},
      {"1_0.5", "10.5"},
      {"+3", "3"},
      {"-3", "-3"},
      {"-0", "0"},
      {"00", "0"},
      {"007", "7"},
      {"010", "8"},
      {"08", "08"},
      {"0o17", "0o17"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"1_", "1"},
      {"_1", "_1"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"1:30", "90"},
      {"1:30.5", "90.5"},
      {"190:20:30", "685230"},
      {"1:60", "1:60"},
      {"'0.010'", "0.010"},
      {"\"true\"", "true"},
      {"!!str 0.010", "0.010"},
      {"abc", "abc"},
      {"10.0.0.1", "10.0.0.1"},
      {"2024-01-01", "2024-01-01"},
      {"s3://b/010", "s3://b/010"},
  };
  for (const auto& [written, sent] : cases) EXPECT_EQ(literal(written), sent) << written;
}

TEST(LiteralText, WhatPythonCannotHoldIsAsWritten) {
  for (const char* text : {".inf", "-.INF", ".nan", "0xFFFFFFFFFFFFFFFFFFFFFFFF", "1.0e+999",
                           "999999999999999999999:30", "0b", "0x", ":30", "1.5.2", "."})
    EXPECT_EQ(literal(std::string(text)), text);
}

TEST(LiteralText, AValueOfSetIsAsItWasTyped) {
  const auto job = parse_job("job.yml", "command: x\ninputs: {a: 1, b: 1}\n",
                             {"inputs.a=0.010", "inputs.b={x: 0.010}"});
  ASSERT_FALSE(job);
  const auto good = parse_job("job.yml", "command: x\ninputs: {a: 1}\n", {"inputs.a=0.010"});
  ASSERT_TRUE(good);
  EXPECT_EQ(good->spec.inputs.at("a"), "0.010");
}

// Azure converts a component's default to its type, but not the values that a step gives.
TEST(LiteralText, DefaultsHaveTheTypeOfTheirInput) {
  const auto command_of = [](const std::string& input) -> std::string {
    const auto job = parse_job(
        "job.yml",
        "jobs: {a: {component: {command: 'x ${{inputs.i}}', inputs: {i: " + input + "}}}}\n");
    if (!job) return job.error().message;
    return std::get<ShellCommand>(job->spec.pipeline->steps[0].spec.command).text;
  };
  EXPECT_EQ(command_of("{type: number, default: 1e-3}"), "x 0.001");
  EXPECT_EQ(command_of("{type: number, default: 3}"), "x 3.0");
  EXPECT_EQ(command_of("{type: number, default: 007}"), "x 7.0");
  EXPECT_EQ(command_of("{type: integer, default: 3.0}"), "x 3");
  EXPECT_EQ(command_of("{type: integer, default: 010}"), "x 8");
  EXPECT_EQ(command_of("{type: boolean, default: yes}"), "x True");
  EXPECT_EQ(command_of("{type: boolean, default: 'false'}"), "x False");
  EXPECT_EQ(command_of("{type: string, default: 3}"), "x 3.0");
  EXPECT_EQ(command_of("{type: string, default: '3'}"), "x 3");
  EXPECT_EQ(command_of("{type: string, default: 1e-3}"), "x 1e-3");
  EXPECT_EQ(command_of("{type: string, default: 3, enum: [3, 5]}"), "x 3");
}

TEST(SetInputs, AnInputThatNothingReadsIsRefused) {
  const std::string text = "command: x --lr ${{inputs.lr}}\ninputs: {lr: 1, unused: 2}\n";
  const auto error = [&](const std::string& assignment) {
    const auto job = parse_job("job.yml", text, {assignment});
    return job ? "accepted" : job.error().message;
  };
  EXPECT_EQ(error("inputs.lr=2"), "accepted");
  EXPECT_EQ(error("inputs.unused=3"), "accepted");
  EXPECT_EQ(error("inputs.lrr=2"),
            "--set inputs.lrr=2: the job has no input 'lrr'; did you mean 'lr'?");
  EXPECT_EQ(
      error("inputs.learning_rate=9"),
      "--set inputs.learning_rate=9: the job has no input 'learning_rate'; it has lr, unused");
  EXPECT_EQ(error("inputs={lr: 1, lrr: 2}"),
            "--set inputs={lr: 1, lrr: 2}: the job has no input 'lrr'; did you mean 'lr'?");
  EXPECT_EQ(error("inputs.data.path=azureml:d:1"),
            "--set inputs.data.path=azureml:d:1: the job has no input 'data'; it has lr, unused");
}

TEST(SetInputs, AnInputThatTheCommandReadsIsNew) {
  const auto read = [](const std::string& text) {
    const auto job = parse_job("job.yml", text, {"inputs.lr=2"});
    return job ? "accepted" : job.error().message;
  };
  EXPECT_EQ(read("command: x ${{inputs.lr}}\n"), "accepted");
  EXPECT_EQ(read("command: x $AZURE_ML_INPUT_lr\n"), "accepted");
  EXPECT_EQ(read("command: x\nenvironment_variables: {LR: '${{inputs.lr}}'}\n"), "accepted");
  EXPECT_EQ(read("command: x ${{outputs.lr_end}}\noutputs: {lr_end: }\n"),
            "--set inputs.lr=2: the job has no input 'lr'; where it is to be read, write "
            "${{inputs.lr}}");
}

TEST(SetInputs, OfAPipelineAndItsStepsToo) {
  const std::string text =
      "inputs: {rate: 1}\n"
      "jobs:\n"
      "  a: {command: 'x ${{inputs.lr}}', inputs: {lr: '${{parent.inputs.rate}}', more: 2}}\n"
      "  b: {command: x, inputs: {from: '${{parent.jobs.a.inputs.more}}'}}\n";
  const auto error = [&](const std::string& assignment) {
    const auto job = parse_job("job.yml", text, {assignment});
    return job ? "accepted" : job.error().message;
  };
  EXPECT_EQ(error("inputs.rate=2"), "accepted");
  EXPECT_EQ(error("jobs.a.inputs.lr=2"), "accepted");
  EXPECT_EQ(error("jobs.a.inputs.more=3"), "accepted");
  EXPECT_EQ(error("inputs.rat=2"),
            "--set inputs.rat=2: the pipeline has no input 'rat'; did you mean 'rate'?");
  EXPECT_EQ(error("jobs.a.inputs.lrr=2"),
            "--set jobs.a.inputs.lrr=2: step 'a' has no input 'lrr'; did you mean 'lr'?");
}

}  // namespace
}  // namespace lockstep::spec
