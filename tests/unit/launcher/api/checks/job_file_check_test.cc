// A job file at the launcher's door: the errors are those of the command line, and those that only
// the launcher knows; nothing changes.

#include <gmock/gmock.h>

#include "tests/unit/launcher/api/permission_world.h"
#include "tests/unit/launcher/files/bad_input.h"

namespace lockstep::launcher {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

JobFileChecked check(CheckJobFile request, Kind kind = Kind::submitter) {
  PermissionWorld world(kind);
  const auto reply = world.ask(std::move(request));
  EXPECT_EQ(world.facts(), 0u) << "checking changed something";
  EXPECT_THAT(world.entries(), IsEmpty()) << "an invalid file is no refusal";
  const auto* checked = reply ? std::get_if<JobFileChecked>(&*reply) : nullptr;
  if (checked == nullptr) {
    ADD_FAILURE() << "not answered by JobFileChecked";
    return {};
  }
  EXPECT_EQ(checked->spec.has_value(), checked->errors.empty());
  return *checked;
}

TEST(JobFileCheck, AGoodFileIsAnsweredByWhatWouldBeSubmitted) {
  const JobFileChecked checked =
      check({"job.yml", "command: echo ${{inputs.lr}}\ncode: src\ninputs: {lr: 3}\n"});
  ASSERT_THAT(checked.errors, IsEmpty());
  EXPECT_EQ(std::get<ShellCommand>(checked.spec->command).text, "echo 3");
  EXPECT_EQ(checked.code, "src");
}

class BadFileAtTheDoor : public testing::TestWithParam<spec::BadInput> {};

TEST_P(BadFileAtTheDoor, HasTheErrorOfTheCommandLine) {
  const spec::BadInput& bad = GetParam();
  const auto here = spec::parse_job("job.yml", bad.text, bad.overrides);
  ASSERT_FALSE(here);
  std::vector<std::string> errors;
  for (const Error& fault : spec::faults_of(here.error())) errors.push_back(fault.message);
  EXPECT_EQ(check({"job.yml", bad.text, bad.overrides}).errors, errors);
}

const auto name_of_case = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Keys, BadFileAtTheDoor, testing::ValuesIn(spec::bad_keys()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Values, BadFileAtTheDoor, testing::ValuesIn(spec::bad_values()),
                         name_of_case);

TEST(JobFileCheck, FilesOfAnEnvironmentAreThoseThatWereSent) {
  CheckJobFile request{"jobs/job.yml", "command: x\nenvironment: {requirements: r.txt}\n"};
  EXPECT_THAT(check(request).errors,
              ElementsAre(HasSubstr("file jobs/r.txt was not sent with this job file")));
  request.files["jobs/r.txt"] = "six\nnumpy>=\n";
  EXPECT_THAT(check(request).errors, ElementsAre(HasSubstr("jobs/r.txt:2:")));
  request.files["jobs/r.txt"] = "six\n-r more.txt\n";
  request.files["jobs/more.txt"] = "numpy\n";
  const JobFileChecked checked = check(request);
  ASSERT_THAT(checked.errors, IsEmpty());
  EXPECT_THAT(std::get<VenvEnvironment>(checked.spec->environment->definition).requirements,
              ElementsAre("six", "numpy"));
}

TEST(JobFileCheck, FilesThatNameEachOtherAreReadWithinABound) {
  CheckJobFile request{"job.yml", "command: x\nenvironment: {requirements: r.txt}\n"};
  for (int i = 0; i < 5'000; ++i) request.files["r.txt"] += "-r empty.txt\n";
  request.files["empty.txt"] = "";
  EXPECT_THAT(check(request).errors, ElementsAre(HasSubstr("too many files are read")));
}

TEST(JobFileCheck, WhatOnlyTheLauncherKnowsIsSaidAsWell) {
  EXPECT_THAT(check({"job.yml", "command: x\nenvironment: azureml:nobodys:1\n"}).errors,
              ElementsAre(testing::AllOf(HasSubstr("job.yml:2:14"), HasSubstr("nobodys"))));
  EXPECT_THAT(check({"job.yml", "command: x\nlockstep: {project: nowhere}\n"}).errors,
              ElementsAre(HasSubstr("job.yml:2:21: there is no project 'nowhere'")));
  EXPECT_THAT(check({"job.yml", "command: x\nlockstep: {project: speech}\n"}).errors,
              ElementsAre(HasSubstr("job.yml:2:21: ")));
  PermissionWorld world(Kind::submitter);
  const std::string taken = world.job(Whose::own).value;
  EXPECT_THAT(check({"job.yml", "command: x\nname: " + taken + "\n"}).errors,
              ElementsAre(HasSubstr("job.yml:2:7: a job '" + taken + "' exists already")));
}

JobFileChecked ask(const CheckJobFile& request) {
  PermissionWorld world(Kind::submitter);
  const auto reply = world.ask(request);
  const auto* checked = reply ? std::get_if<JobFileChecked>(&*reply) : nullptr;
  EXPECT_TRUE(checked != nullptr && checked->knows_parts);
  return checked == nullptr ? JobFileChecked() : *checked;
}

TEST(JobFileCheck, WhatIsWrongInAFileWithFaultsIsSaidBesideThem) {
  CheckJobFile request{"job.yml",
                       "comand: x\n"
                       "environment: azureml:nobodys:1\n"
                       "lockstep: {project: nowhere, from_checkpoint_of: nobody}\n"
                       "compute: lost\n"
                       "inputs: {d: {path: azureml:nothing:1}}\n"};
  EXPECT_THAT(ask(request).errors, Each(HasSubstr("job.yml:1:1: "))) << "others say them alone";
  request.faults_are_said = true;
  const JobFileChecked checked = ask(request);
  EXPECT_FALSE(checked.spec);
  EXPECT_THAT(
      checked.errors,
      UnorderedElementsAre(HasSubstr("job.yml:2:14: "), HasSubstr("job.yml:5:20: inputs.d: "),
                           HasSubstr("job.yml:3:21: there is no project 'nowhere'"),
                           HasSubstr("job.yml:3:50: there is no job 'nobody'"),
                           HasSubstr("job.yml:4:10: there is no compute target 'lost'")));
}

TEST(JobFileCheck, NothingIsSaidThatFollowsFromAFault) {
  CheckJobFile request{"job.yml", "resources: {instance_count: many}\ncompute: [a]\nname: a/b\n"};
  request.faults_are_said = true;
  EXPECT_THAT(ask(request).errors, IsEmpty());
  request.text =
      "jobs:\n"
      "  a: {command: x, compute: lost}\n"
      "  b: {command: x, environment: 'no:1'}\n"
      "  c: {comand: x}\n";
  EXPECT_THAT(ask(request).errors,
              UnorderedElementsAre(HasSubstr("job.yml:2:28: there is no compute target 'lost'"),
                                   HasSubstr("job.yml:3:32: ")));
}

TEST(JobFileCheck, AJobWithoutAFileHasTheFlagsThatSayIt) {
  CheckJobFile request;
  request.spec.emplace();
  request.spec->command = Argv{{"true"}};
  request.spec->experiment_name = "Default";
  request.spec->compute = "lost";
  request.spec->project = "nowhere";
  request.spec->from_checkpoint_of = JobId("nobody");
  request.environment = "nobodys:1";
  request.places = {{"compute", "--compute"},
                    {"lockstep.project", "--project nowhere"},
                    {"environment", "run: --environment nobodys:1"}};
  EXPECT_THAT(ask(request).errors,
              UnorderedElementsAre(StartsWith("run: --environment nobodys:1: "),
                                   StartsWith("--project nowhere: there is no project"),
                                   StartsWith("there is no job 'nobody'"),
                                   StartsWith("--compute: there is no compute target 'lost'")));
}

TEST(JobFileCheck, ANameOfAnEnvironmentBecomesWhatItStandsFor) {
  PermissionWorld world(Kind::submitter);
  const std::string mine = world.environment(Whose::own), theirs = world.environment(Whose::far);
  const JobFileChecked checked =
      check({"job.yml", "command: x\nenvironment: azureml:" + mine + ":1\n"});
  ASSERT_THAT(checked.errors, IsEmpty());
  EXPECT_EQ(std::get<DockerEnvironment>(checked.spec->environment->definition).image, "busybox:1");
  EXPECT_THAT(check({"job.yml", "command: x\nenvironment: azureml:" + theirs + ":1\n"}).errors,
              ElementsAre(HasSubstr("job.yml:2:14")));
}

}  // namespace
}  // namespace lockstep::launcher
