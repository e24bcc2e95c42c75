#include "launcher/files/environment/environment_reader.h"

#include <gtest/gtest.h>

#include "launcher/files/environment/environment_reference.h"
#include "launcher/files/job_file.h"
#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {
namespace {

JobFile job_of(const std::string& environment, const Files& files = {},
               const std::vector<std::string>& overrides = {}) {
  auto job = parse_job("job.yml", "command: x\n" + environment, overrides, from(files));
  EXPECT_TRUE(job) << job.error().message;
  return job ? *std::move(job) : JobFile{};
}

// ---- what is refused
// -----------------------------------------------------------------------------

class BadJobEnvironment : public testing::TestWithParam<BadEnvironment> {};

TEST_P(BadJobEnvironment, IsRefusedWithItsPlace) {
  const BadEnvironment& bad = GetParam();
  const auto job = parse_job("job.yml", "command: x\n" + bad.text, bad.overrides, from(bad.files));
  ASSERT_FALSE(job) << "was accepted";
  EXPECT_EQ(job.error().message, bad.message);
  EXPECT_EQ(job.error().code, bad.code);
  EXPECT_TRUE(parse_job("job.yml", "command: x\nenvironment: {interpreter: python3}\n"));
}

class BadEnvironmentFile : public testing::TestWithParam<BadEnvironment> {};

TEST_P(BadEnvironmentFile, IsRefusedWithItsPlace) {
  const BadEnvironment& bad = GetParam();
  Files files = bad.files;
  files["env.yml"] = bad.text;
  Notes notes;
  const auto environment = load_environment("env.yml", from(files), notes);
  ASSERT_FALSE(environment) << "was accepted";
  EXPECT_EQ(environment.error().message, bad.message);
  EXPECT_EQ(environment.error().code, bad.code);
}

const auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Each, BadJobEnvironment, testing::ValuesIn(bad_job_environments()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Docker, BadJobEnvironment, testing::ValuesIn(bad_docker_jobs()), name_of);
INSTANTIATE_TEST_SUITE_P(Docker, BadEnvironmentFile, testing::ValuesIn(bad_docker_files()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Each, BadEnvironmentFile, testing::ValuesIn(bad_environment_files()),
                         name_of);

// ---- what is taken
// -------------------------------------------------------------------------------

TEST(EnvironmentOfJob, NoneIsNone) {
  EXPECT_FALSE(job_of("").spec.environment);
  EXPECT_FALSE(job_of("environment:\n").spec.environment);  // its value is commented out
}

TEST(EnvironmentOfJob, InlineAndFileAreTheSameDefinition) {
  const Files files{{"envs/env.yml", "name: a\nrequirements: r.txt\npython: python3.11\n"},
                    {"envs/r.txt", "numpy==1.26.4  # pinned\n-r more.txt\n"},
                    {"envs/more.txt", "--pre\nsix\n"}};
  const auto in_file = job_of("environment: file:./envs/env.yml\n", files).spec.environment;
  const auto inline_ = job_of(
                           "environment:\n  python: python3.11\n"
                           "  requirements: [numpy==1.26.4, --pre, six]\n")
                           .spec.environment;
  ASSERT_TRUE(in_file && inline_);
  EXPECT_EQ(in_file->name, "a");
  EXPECT_EQ(inline_->name, "");
  EXPECT_EQ(in_file->definition, inline_->definition);
  EXPECT_EQ(digest_of(in_file->definition), digest_of(inline_->definition));
  EXPECT_EQ(in_file->definition, EnvironmentDefinition(VenvEnvironment{
                                     "python3.11", {"--pre"}, {"numpy==1.26.4", "six"}, {}}));
}

TEST(EnvironmentOfJob, FilesAreBesideTheFileThatNamesThem) {
  const Files files{{"jobs/e/env.yml", "requirements: ../r.txt\n"}, {"jobs/r.txt", "six\n"}};
  const auto job =
      parse_job("jobs/job.yml", "command: x\nenvironment: file:e/env.yml\n", {}, from(files));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(std::get<VenvEnvironment>(job->spec.environment->definition).requirements,
            std::vector<std::string>{"six"});
}

TEST(EnvironmentOfJob, AnAbsoluteFileIsOne) {
  const Files files{{"/shared/env.yml", "interpreter: /opt/py/bin/python3\n"}};
  for (const char* path : {"file:/shared/env.yml", "file:///shared/env.yml"}) {
    const auto job = job_of(std::string("environment: ") + path + "\n", files);
    EXPECT_EQ(job.spec.environment->definition,
              EnvironmentDefinition(HostEnvironment{"/opt/py/bin/python3"}));
  }
}

TEST(EnvironmentOfJob, NamesStayNamesWithTheirPlace) {
  const auto reference = [](const std::string& text) {
    const JobFile job = job_of("environment: " + text + "\n");
    EXPECT_FALSE(job.spec.environment);
    return job.environment.value_or(EnvironmentReference{});
  };
  EXPECT_EQ(reference("azureml:tools:3"), (EnvironmentReference{"tools:3", "job.yml:2:14"}));
  EXPECT_EQ(reference("azureml:tools@latest").text, "tools@latest");
  EXPECT_EQ(reference("tools:3").text, "tools:3");
  EXPECT_EQ(reference("tools@latest").text, "tools@latest");
  const std::string latest = "azureml://registries/azureml/environments/sklearn-1.5/labels/latest";
  EXPECT_EQ(reference(latest).text, latest);
  const std::string version = "azureml://registries/r/environments/e/versions/12";
  EXPECT_EQ(reference(version).text, version);
}

TEST(EnvironmentOfJob, OverridesCountLikeTheFile) {
  const JobFile named = job_of("", {}, {"environment=azureml:tools:3"});
  ASSERT_TRUE(named.environment);
  EXPECT_EQ(named.environment->where, "--set environment=azureml:tools:3");
  const JobFile inner =
      job_of("environment: {requirements: [six]}\n", {}, {"environment.python=python3.12"});
  EXPECT_EQ(std::get<VenvEnvironment>(inner.spec.environment->definition).python, "python3.12");
  const JobFile whole =
      job_of("environment: azureml:tools:3\n", {}, {"environment={interpreter: python3}"});
  EXPECT_FALSE(whole.environment);
  EXPECT_EQ(whole.spec.environment->definition, EnvironmentDefinition(HostEnvironment{"python3"}));
}

TEST(EnvironmentFile, EveryKeyIsRead) {
  const Files files{{"env.yml",
                     "\xef\xbb\xbf$schema: https://a.b/latest/environment.schema.json\n"
                     "name: tools\nversion: 1.10\ndescription: all of it\n"
                     "tags: {team: vision, year: 2026}\nos_type: Linux\n"
                     "requirements: [--index-url https://a, numpy]\npython: /usr/bin/python3\n"}};
  Notes notes;
  const auto read = load_environment("env.yml", from(files), notes);
  ASSERT_TRUE(read) << read.error().message;
  RegisteredEnvironment want;
  want.spec = {"tools", "1.10",
               VenvEnvironment{"/usr/bin/python3", {"--index-url https://a"}, {"numpy"}, {}}};
  want.description = "all of it";
  want.tags = {{"team", "vision"}, {"year", "2026"}};
  EXPECT_EQ(*read, (ReadEnvironment{want, std::nullopt}));
}

TEST(EnvironmentFile, AnEmptyListIsABareEnvironment) {
  Notes notes;
  const auto read = load_environment("env.yml", from({{"env.yml", "requirements: []\n"}}), notes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->environment.spec.definition, EnvironmentDefinition(VenvEnvironment{}));
  EXPECT_EQ(notes, Notes{"env.yml:1:15: 'requirements' names no package: the environment is an "
                         "empty virtual environment"});
  notes.clear();
  const Files comments{{"env.yml", "requirements: r.txt\n"}, {"r.txt", "# none yet\n"}};
  ASSERT_TRUE(load_environment("env.yml", from(comments), notes));
  EXPECT_EQ(notes.size(), 1U);
}

TEST(EnvironmentFile, MayHaveOptionsAndConstraints) {
  Notes notes;
  const auto read =
      load_environment("env.yml",
                       from({{"env.yml",
                              "options: [--index-url https://a]\nrequirements: [--pre, six]\n"
                              "constraints: ['six<2']\npython: python3.11\n"}}),
                       notes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->environment.spec.definition,
            EnvironmentDefinition(VenvEnvironment{
                "python3.11", {"--index-url https://a", "--pre"}, {"six"}, {"six<2"}}));
  EXPECT_TRUE(notes.empty());
}

TEST(EnvironmentFile, AByteOrderMarkOfARequirementsFileIsNoPartOfAName) {
  VenvEnvironment venv;
  ASSERT_TRUE(load_requirements("r.txt", from({{"r.txt", "\xef\xbb\xbfsix\n"}}), venv));
  EXPECT_EQ(venv.requirements, std::vector<std::string>{"six"});
}

TEST(EnvironmentReferenceText, FilesAreToldFromNames) {
  EXPECT_TRUE(looks_like_file("./env.yml"));
  EXPECT_TRUE(looks_like_file("env.yaml"));
  EXPECT_TRUE(looks_like_file("envs/tools"));
  EXPECT_FALSE(looks_like_file("tools:3"));
  EXPECT_FALSE(looks_like_file("azureml://registries/r/environments/e/labels/latest"));
}

}  // namespace
}  // namespace lockstep::spec
