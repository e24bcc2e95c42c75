// The flags that `run`, `job create` and `job validate` share.

#include "launcher/cli/job/flags.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "common/domain/job/pipeline.h"
#include "launcher/cli/verb_tree.h"
#include "launcher/files/job_file.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kFile =
    "command: x ${{inputs.lr}} ${{inputs.data}}\n"
    "inputs:\n"
    "  lr: 1\n"
    "  data: {type: uri_file, path: azureml:d:1}\n"
    "outputs: {model: }\n";

Words overrides(const JobFlags& flags, const std::string& text = kFile) {
  spec::Faults faults;
  const auto found = overrides_of(flags, {"job.yml", text}, faults);
  if (const Status good = faults.status(); !good) return {good.error().message};
  Words words;
  for (const FlagOverride& one : found) words.push_back(one.assignment);
  return words;
}

class JobFlagsOnDisk : public testing::Test {
 protected:
  JobFlagsOnDisk() {
    std::filesystem::create_directory(folder());
    std::ofstream(folder() + "/a.csv") << "1\n";
  }
  std::string folder() const { return temp_.path() + "/faces"; }
  const test::TempDir temp_;
};

TEST(JobFlags, RunCreateAndValidateHaveThemAlike) {
  const VerbTree tree;
  const CLI::App& job = *tree.app().get_subcommand("job");
  for (const CLI::App* verb : {tree.app().get_subcommand("run"), job.get_subcommand("create"),
                               job.get_subcommand("validate")})
    for (const char* flag : {"--tag", "--experiment", "--display-name", "--input", "--output",
                             "--compute", "--links", "--grace", "--signal", "--wait-anyway"})
      EXPECT_NE(verb->get_option_no_throw(flag), nullptr) << verb->get_name() << " " << flag;
}

TEST(JobFlags, TextsAreOfTheJobAndItsSteps) {
  JobFlags flags;
  flags.tags = {"owner=anna", "run=a=b"};
  flags.display_name = "night";
  flags.experiment = "digits";
  auto job = spec::parse_job("job.yml", "jobs: {a: {command: x}}\n");
  ASSERT_TRUE(job);
  ASSERT_TRUE(apply_texts(flags, job->spec));
  EXPECT_EQ(job->spec.tags,
            (std::map<std::string, std::string>{{"owner", "anna"}, {"run", "a=b"}}));
  EXPECT_EQ(job->spec.display_name, "night");
  EXPECT_EQ(job->spec.experiment_name, "digits");
  EXPECT_EQ(job->spec.pipeline->steps[0].spec.experiment_name, "digits");
  flags.tags = {"owner"};
  EXPECT_EQ(apply_texts(flags, job->spec).error().message, "--tag 'owner' is not KEY=VALUE");
}

TEST(JobFlags, TheEndAndTheLinksAreOfTheJobAndItsSteps) {
  JobFlags flags;
  flags.grace = "60";
  flags.signal = "USR1@30";
  flags.links = snapshot::Links::keep;
  auto job = spec::parse_job("job.yml", "command: x\nlimits: {timeout: 90}\n");
  ASSERT_TRUE(job);
  ASSERT_TRUE(apply_to_file(flags, *job));
  EXPECT_EQ(job->spec.stop.grace, seconds(60));
  EXPECT_EQ(job->spec.stop.signal->before, seconds(30));
  EXPECT_TRUE(job->keep_links);
  auto steps = spec::parse_job("job.yml",
                               "jobs: {a: {command: x, limits: {timeout: 90}}, b: {command: x}}\n");
  ASSERT_TRUE(steps);
  EXPECT_TRUE(apply_to_file(flags, *steps)
                  .error()
                  .message.starts_with("jobs.b: lockstep.signal: comes before the end of "
                                       "limits.timeout, and the job has none"));
  flags.signal.clear();
  ASSERT_TRUE(apply_to_file(flags, *steps));
  EXPECT_EQ(steps->spec.pipeline->steps[1].spec.stop.grace, seconds(60));
  EXPECT_TRUE(steps->steps[0].keep_links);
  flags.grace = "soon";
  EXPECT_EQ(apply_to_file(flags, *job).error().message,
            "--grace 'soon' is not a time; write seconds, or 90s, 5m");
}

TEST_F(JobFlagsOnDisk, InputsOfAFileKeepTheirKind) {
  const std::string file = folder() + "/a.csv";
  EXPECT_EQ(overrides({.inputs = {"lr=0.1"}}), Words{"inputs.lr=0.1"});
  EXPECT_EQ(overrides({.inputs = {"lr=./x"}}), Words{"inputs.lr=./x"});
  EXPECT_EQ(overrides({.inputs = {"data=" + file}}), Words{"inputs.data.path=" + file});
  EXPECT_EQ(overrides({.inputs = {"data=azureml:d@latest"}}),
            Words{"inputs.data.path=azureml:d@latest"});
  EXPECT_EQ(overrides({.inputs = {"data={type: uri_folder, path: x}"}}),
            Words{"inputs.data={type: uri_folder, path: x}"});
  EXPECT_EQ(overrides({.inputs = {"more=" + folder()}}),
            Words{"inputs.more={path: \"" + folder() + "\", type: uri_folder}"});
  EXPECT_EQ(overrides({.inputs = {"n=3"}}, "inputs: {n: {type: integer, default: 1}}\njobs: {}\n"),
            Words{"inputs.n=3"});
  EXPECT_EQ(overrides({.inputs = {"lr"}}),
            Words{"--input 'lr' is not NAME=VALUE; the name has 1 to 100 letters, digits and '_', "
                  "and does not begin with a digit"});
}

TEST(JobFlags, OutputsAndTargetsOfAFile) {
  EXPECT_EQ(overrides({.outputs = {"model"}}), Words{});
  EXPECT_EQ(overrides({.outputs = {"more"}}), Words{"outputs.more={type: uri_folder}"});
  EXPECT_EQ(overrides({.outputs = {"model=azureml://datastores/d/paths/x"}}),
            Words{"outputs.model.path=azureml://datastores/d/paths/x"});
  EXPECT_EQ(overrides({.compute = "gpus"}), Words{"compute=gpus"});
  EXPECT_EQ(overrides({.compute = "gpus"}, "jobs: {a: {command: x}}\n"),
            Words{"settings.default_compute=gpus"});
}

TEST(JobFlags, ErrorsNameTheFlagThatWasTyped) {
  const std::vector<FlagOverride> overrides = {{"compute=gpus", "--compute gpus"},
                                               {"inputs.lr=1", "--input lr=1"}};
  EXPECT_EQ(as_typed("--set inputs.lr=1: no", overrides), "--input lr=1: no");
  EXPECT_EQ(as_typed("--set compute=gpus: a: b", overrides), "--compute gpus: a: b");
  EXPECT_EQ(as_typed("--set inputs.lr=10: no", overrides), "--set inputs.lr=10: no");
  EXPECT_EQ(as_typed("job.yml:1:1: no", overrides), "job.yml:1:1: no");
}

TEST_F(JobFlagsOnDisk, InputsAndOutputsOfRun) {
  JobSpec spec;
  spec.command = Argv{{"train", "--lr", "${{inputs.lr}}", "${{ inputs.data }}", "${{outputs.m}}"}};
  std::vector<spec::LocalData> local;
  JobFlags flags;
  flags.inputs = {"lr=0.010", "data=" + folder(), "one=" + folder() + "/a.csv", "set=azureml:s:1"};
  flags.outputs = {"m", "n={type: uri_file}"};
  const Status read = read_port_flags(flags, spec, local);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(spec.inputs.at("lr"), "0.010");
  EXPECT_EQ(std::get<Argv>(spec.command).words,
            (Words{"train", "--lr", "0.010", "${{inputs.data}}", "${{outputs.m}}"}));
  ASSERT_EQ(spec.data.size(), 3u);
  EXPECT_EQ(spec.data[0].type, InputType::uri_folder);
  EXPECT_EQ(spec.data[1].type, InputType::uri_file);
  EXPECT_EQ(spec.data[1].file, "a.csv");
  EXPECT_TRUE(spec.data[2].is_type_open);
  ASSERT_EQ(local.size(), 2u);
  EXPECT_EQ(local[0].path, folder());
  EXPECT_EQ(local[0].where, "--input data=" + folder());
  ASSERT_EQ(spec.outputs.size(), 2u);
  EXPECT_EQ(spec.outputs[1].type, OutputType::uri_file);
}

TEST(JobFlags, WhatIsWrongNamesTheFlag) {
  const auto error = [](const JobFlags& flags, const std::string& word = "x") {
    JobSpec spec;
    spec.command = Argv{{word}};
    std::vector<spec::LocalData> local;
    const Status read = read_port_flags(flags, spec, local);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(error({.inputs = {"d=./no-such-folder"}})
                .starts_with("--input d=./no-such-folder: 'inputs.d.path': "),
            true)
      << error({.inputs = {"d=./no-such-folder"}});
  EXPECT_EQ(error({.outputs = {"m=./here"}}).starts_with("--output m=./here: 'outputs.m.path': "),
            true)
      << error({.outputs = {"m=./here"}});
  EXPECT_EQ(error({.inputs = {"lr=1"}}, "${{inputs.rl}}"),
            "-- ${{inputs.rl}}: unknown input 'rl' in '${{inputs.rl}}'; did you mean 'lr'?");
  EXPECT_EQ(error({}, "${{inputs.rl}}"), "accepted") << "words after -- are run as they are";
}

}  // namespace
}  // namespace lockstep::cli
