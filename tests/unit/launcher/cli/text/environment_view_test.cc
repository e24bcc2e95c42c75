#include "launcher/cli/text/environment_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launcher/api/json/environment.h"
#include "launcher/api/json/job.h"
#include "launcher/cli/terminal/output.h"
#include "launcher/cli/text/view_text.h"
#include "launcher/files/environment/environment_reader.h"
#include "tests/unit/launcher/cli/samples.h"

namespace lockstep::cli {
namespace {

const VenvEnvironment kVenv{"python3", {"--pre"}, {"numpy==1.26.4", "six"}, {"six<2"}};
const Digest kLock = sha256("lock");
const Digest kKey = sha256("key");

JobView job_with_environment() {
  JobView job = sample_job();
  job.spec.environment = EnvironmentSpec{"tools", "3", kVenv};
  EnvironmentReport report{
      EnvironmentReport::Step::ready, 0, "linux-x86_64-python3.11", kLock, kKey, "built in 12.3 s"};
  job.attempts.back().parts.back().environment = report;
  return job;
}

EnvironmentView sample_environment() {
  EnvironmentView view;
  view.environment = {{"tools", "3", kVenv}, "what we train with", {{"team", "vision"}}};
  view.created = kNoon;
  view.created_by = "ada";
  view.definition = digest_of(kVenv);
  view.locks = {{{"linux-x86_64-python3.11", kLock}, kNoon + seconds(5), "n1", JobId("first")}};
  view.last_job = JobId("second");
  view.project = "vision";
  return view;
}

TEST(EnvironmentOfAJob, IsInItsRecord) {
  const Json json = api::to_json(job_with_environment());
  EXPECT_EQ(json["environment"], Json::parse(R"({"name": "tools", "version": "3",
      "provider": "venv", "definition": ")" + digest_of(kVenv).hex() +
                                             R"("})"));
  EXPECT_EQ(json["attempts"][0]["parts"][0]["environment"],
            Json::parse(R"({"step": "ready", "platform": "linux-x86_64-python3.11",
      "lock": ")" + kLock.hex() +
                        R"(", "key": ")" + kKey.hex() + R"(",
      "how": "built in 12.3 s", "reason_data": null})"));
  EXPECT_TRUE(api::to_json(sample_job())["environment"].is_null());
}

TEST(EnvironmentOfAJob, IsShownWithEachNodesPart) {
  const std::string text = job_text(job_with_environment(), kNoon + seconds(60));
  const std::string digest = digest_of(kVenv).hex().substr(0, 12);
  EXPECT_NE(text.find("\nenvironment:  tools:3 (venv, " + digest + ")\n"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("\n      environment ready for linux-x86_64-python3.11: built in 12.3 s; key " +
                kKey.hex().substr(0, 12) + ", lock " + kLock.hex().substr(0, 12) + "\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(job_text(sample_job(), kNoon).find("environment"), std::string::npos);
}

TEST(EnvironmentOfAJob, IsExplained) {
  ExplainView explain{job_with_environment(), {"attempt 1 was placed"}, {}};
  const std::string digest = digest_of(kVenv).hex();
  EXPECT_EQ(explain_text(explain),
            "gray_pig: Failed (rank 3 on local-1 exited with code 7)\n"
            "  attempt 1 was placed\n"
            "  environment tools:3 (venv, " +
                digest.substr(0, 12) + "), definition " + digest +
                "\n    local-1: ready for linux-x86_64-python3.11: built in 12.3 s\n"
                "      key " +
                kKey.hex() + "\n      lock " + kLock.hex() + "\n");
  const Json json = api::to_json(explain)["environment"];
  EXPECT_EQ(json["definition"], digest);
  ASSERT_EQ(json["nodes"].size(), 1U);
  EXPECT_EQ(json["nodes"][0]["node_name"], "local-1");
  EXPECT_EQ(json["nodes"][0]["key"], kKey.hex());
  explain.job = sample_job();
  EXPECT_TRUE(api::to_json(explain)["environment"].is_null());
  EXPECT_EQ(explain_text(explain).find("environment"), std::string::npos);
}

TEST(EnvironmentOfAJob, OneThatWaitsHasNoKey) {
  JobView job = job_with_environment();
  auto& report = *job.attempts.back().parts.back().environment;
  report = EnvironmentReport{};
  report.platform = "linux-x86_64-python3.11";
  EXPECT_EQ(environment_line(job.attempts.back().parts.back()),
            "      environment not solved yet for linux-x86_64-python3.11\n");
  const Json json = api::to_json(job)["attempts"][0]["parts"][0]["environment"];
  EXPECT_TRUE(json["key"].is_null() && json["lock"].is_null() && json["how"].is_null());
}

TEST(EnvironmentOfAJob, OneThatCouldNotSolveSaysWhy) {
  JobView job = job_with_environment();
  auto& report = *job.attempts.back().parts.back().environment;
  report = EnvironmentReport{};
  report.step = EnvironmentReport::Step::not_solved;
  report.platform = "linux-64";
  report.how = "no network";
  EXPECT_EQ(environment_line(job.attempts.back().parts.back()),
            "      environment could not be solved for linux-64: no network\n");
  EXPECT_EQ(api::to_json(report)["step"], "not_solved");
  EXPECT_EQ(api::to_json(report)["how"], "no network");
}

TEST(EnvironmentJson, HasItsContentAndWhatIsKnownOfIt) {
  const Json want = Json::parse(R"({
    "name": "tools", "version": "3", "description": "what we train with",
    "tags": {"team": "vision"}, "os_type": "linux", "python": "python3",
    "requirements": ["numpy==1.26.4", "six"], "options": ["--pre"], "constraints": ["six<2"],
    "creation_context": {"created_at": "2030-01-01T12:00:00.000Z", "created_by": "ada"},
    "lockstep": {"provider": "venv", "definition": ")" +
                                digest_of(kVenv).hex() + R"(", "project": "vision",
      "owner": null, "shared_with": {"project": false, "users": []}, "archived": false,
      "locks": [{"platform": "linux-x86_64-python3.11", "lock": ")" +
                                kLock.hex() + R"(",
                 "solved_at": "2030-01-01T12:00:05.000Z", "node_name": "n1", "job": "first"}],
      "last_job": "second"}})");
  EXPECT_EQ(api::to_json(sample_environment()).dump(1), want.dump(1));
  EnvironmentView host = sample_environment();
  host.environment.spec.definition = HostEnvironment{"/opt/py/bin/python3"};
  EXPECT_EQ(api::to_json(host)["interpreter"], "/opt/py/bin/python3");
  EXPECT_FALSE(api::to_json(host).contains("requirements"));
}

TEST(EnvironmentText, IsReadByPeople) {
  EXPECT_EQ(environment_text(sample_environment()),
            "name:           tools\n"
            "version:        3\n"
            "description:    what we train with\n"
            "tags:           team=vision\n"
            "provider:       venv\n"
            "python:         python3\n"
            "options:        --pre\n"
            "requirements:   numpy==1.26.4\n"
            "                six\n"
            "constraints:    six<2\n"
            "definition:     " +
                digest_of(kVenv).hex() +
                "\nproject:        vision\n"
                "created:        2030-01-01T12:00:00.000Z by ada\n"
                "lock:           " +
                kLock.hex().substr(0, 12) +
                " for linux-x86_64-python3.11, solved "
                "2030-01-01T12:00:05.000Z on n1 for first\n"
                "last job:       second\n");
  EXPECT_EQ(environment_table({}),
            "no environments yet; make one with: lockstep environment create -f FILE\n");
  const std::string table = environment_table({sample_environment()});
  EXPECT_NE(table.find("\ntools  3        venv      " + digest_of(kVenv).hex().substr(0, 12) +
                       "  2030-01-01T12:00:00.000Z  ada  second\n"),
            std::string::npos)
      << table;
}

// ---- conda
// ---------------------------------------------------------------------------------------

CondaEnvironment sample_conda() {
  CondaEnvironment conda;
  conda.channels = {"conda-forge", "https://h/c"};
  conda.dependencies = {"python=3.11", "numpy"};
  conda.requirements = {"six==1.16.0"};
  conda.variables = {{"A", "b c"}};
  return conda;
}

CondaEnvironment sample_lock() {
  CondaEnvironment lock;
  lock.locked = {{"", {"a#md5:0"}}, {"linux-64", {"b#md5:0", "c#md5:0"}}};
  return lock;
}

TEST(CondaView, HasWhatTheFileSays) {
  EnvironmentView view = sample_environment();
  view.environment.spec.definition = sample_conda();
  const Json json = api::to_json(view);
  EXPECT_EQ(json["conda_file"], Json::parse(R"({
    "channels": ["conda-forge", "https://h/c"], "channel_priority": "strict",
    "dependencies": ["python=3.11", "numpy", {"pip": ["six==1.16.0"]}],
    "variables": {"A": "b c"}})"));
  EXPECT_EQ(json["lockstep"]["provider"], "conda");
  const std::string text = environment_text(view);
  EXPECT_NE(text.find("provider:       conda\n"
                      "channels:       conda-forge\n"
                      "                https://h/c\n"
                      "dependencies:   python=3.11\n"
                      "                numpy\n"
                      "pip:            six==1.16.0\n"
                      "variables:      A=b c\n"
                      "definition:     "),
            std::string::npos)
      << text;
}

TEST(CondaView, OfALockTheNumbersOfPackagesAreShown) {
  EnvironmentView view = sample_environment();
  view.environment.spec.definition = sample_lock();
  EXPECT_EQ(api::to_json(view)["conda_file"]["locked"],
            Json::parse(R"({"all": 1, "linux-64": 2})"));
  EXPECT_NE(environment_text(view).find("\nlocked:         1 packages for all\n"
                                        "                2 packages for linux-64\n"),
            std::string::npos);
}

TEST(CondaView, AJobSaysWhatItsEnvironmentIsMadeOf) {
  JobView job = job_with_environment();
  EXPECT_EQ(contents(*job.spec.environment), "");  // of a venv its digest is all
  job.spec.environment->definition = sample_conda();
  const std::string line =
      "channels conda-forge, https://h/c; dependencies python=3.11, numpy; pip six==1.16.0; "
      "variables A";
  EXPECT_EQ(contents(*job.spec.environment), line);
  EXPECT_NE(job_text(job, kNoon).find("\nmade of:      " + line + "\n"), std::string::npos);
  EXPECT_EQ(api::to_json(job)["environment"]["dependencies"], Json({"python=3.11", "numpy"}));
  const ExplainView explain{job, {}, {}};
  EXPECT_NE(explain_text(explain).find("\n    " + line + "\n    local-1: ready"),
            std::string::npos);
  EXPECT_EQ(api::to_json(explain)["environment"]["pip"], Json({"six==1.16.0"}));
  job.spec.environment->definition = sample_lock();
  EXPECT_EQ(contents(*job.spec.environment), "locked 1 packages for all, 2 packages for linux-64");
}

TEST(CondaView, ALongListIsCut) {
  CondaEnvironment conda;
  conda.dependencies.assign(25, "x");
  const std::string text = contents(EnvironmentSpec{"", "", conda});
  EXPECT_EQ(text.substr(text.size() - 15), "x, x and 5 more");
}

// ---- containers
// ---------------------------------------------------------------------------------------

TEST(DockerView, HasWhatTheFileSays) {
  EnvironmentView view = sample_environment();
  view.environment.spec.definition = DockerEnvironment{"r.io/train:1", {}, sample_conda()};
  Json json = api::to_json(view);
  EXPECT_EQ(json["image"], "r.io/train:1");
  EXPECT_EQ(json["conda_file"]["channels"], Json({"conda-forge", "https://h/c"}));
  EXPECT_EQ(json["lockstep"]["provider"], "docker");
  EXPECT_NE(environment_text(view).find("provider:       docker\n"
                                        "image:          r.io/train:1\n"
                                        "channels:       conda-forge\n"),
            std::string::npos)
      << environment_text(view);
  const Digest context = sha256("context");
  view.environment.spec.definition =
      DockerEnvironment{"", ImageBuild{context, "gpu/Dockerfile"}, {}};
  json = api::to_json(view);
  EXPECT_EQ(json["build"],
            Json({{"context", context.hex()}, {"dockerfile_path", "gpu/Dockerfile"}}));
  EXPECT_FALSE(json.contains("image") || json.contains("conda_file"));
  EXPECT_NE(environment_text(view).find("\nbuild:          context " + context.hex().substr(0, 12) +
                                        "\ndockerfile:     gpu/Dockerfile\n"),
            std::string::npos)
      << environment_text(view);
}

TEST(DockerView, AJobSaysItsImageAndWhatItsContainerHas) {
  JobView job = job_with_environment();
  job.spec.environment->definition = DockerEnvironment{"r.io/train:1", {}, sample_conda()};
  EXPECT_EQ(contents(*job.spec.environment).substr(0, 41),
            "image r.io/train:1; channels conda-forge,");
  EXPECT_EQ(api::to_json(job)["environment"]["image"], "r.io/train:1");
  EXPECT_EQ(api::to_json(job)["resources"], Json({{"instance_count", 2}}));
  EXPECT_EQ(job_text(job, kNoon).find("container:"), std::string::npos);
  job.spec.resources.shm_size = gibibytes(8);
  job.spec.resources.docker_args = {"--ulimit", "memlock=-1"};
  EXPECT_EQ(api::to_json(job)["resources"],
            Json::parse(R"({"instance_count": 2, "shm_size": 8589934592,
                            "docker_args": ["--ulimit", "memlock=-1"]})"));
  const std::string text = job_text(job, kNoon);
  EXPECT_NE(text.find("\nmade of:      image r.io/train:1; channels"), std::string::npos) << text;
  EXPECT_NE(text.find("\ncontainer:    /dev/shm 8.0 GiB; --ulimit memlock=-1\n"), std::string::npos)
      << text;
  job.spec.resources.docker_args = {"-e", "A=b c"};
  EXPECT_NE(job_text(job, kNoon).find("\ncontainer:    /dev/shm 8.0 GiB; -e 'A=b c'\n"),
            std::string::npos);
  const ExplainView explain{job, {}, {}};
  EXPECT_NE(explain_text(explain).find("\n    image r.io/train:1; channels"), std::string::npos);
  EXPECT_EQ(api::to_json(explain)["environment"]["image"], "r.io/train:1");
  job.spec.environment->definition =
      DockerEnvironment{"", ImageBuild{sha256("context"), "Dockerfile"}, {}};
  EXPECT_EQ(contents(*job.spec.environment),
            "image built from " + sha256("context").hex().substr(0, 12) + "/Dockerfile");
}

// ---- what is shown is a file
// ---------------------------------------------------------------------------------------

Result<spec::ReadEnvironment> read_shown(const EnvironmentView& view) {
  const std::string shown = yaml_text(api::to_json(view));
  spec::Notes notes;
  auto read = spec::load_environment(
      "e.yml", [&](const std::string&) { return Result<std::string>(shown); }, notes);
  EXPECT_TRUE(notes.empty()) << notes.front();
  return read;
}

TEST(ShownEnvironment, IsAFileOfTheSame) {
  CondaEnvironment conda = sample_conda();
  conda.strict_priority = false;
  conda.channels.push_back("https://h/c%3Ftoken=1");
  conda.options = {"--pre", "--index-url https://h/simple"};
  conda.constraints = {"six<2"};
  const VenvEnvironment venv{"/usr/bin/python3.11",
                             {"--index-url https://h/simple?a=b", "--pre"},
                             {"numpy==1.26.4", "six; python_version < '3.12'"},
                             {"six<2"}};
  const std::vector<EnvironmentDefinition> all{HostEnvironment{"python3"},
                                               kVenv,
                                               venv,
                                               sample_conda(),
                                               conda,
                                               DockerEnvironment{"r.io/train:1", {}, {}},
                                               DockerEnvironment{"r.io/train:1", {}, conda}};
  for (const auto& definition : all) {
    EnvironmentView view = sample_environment();
    view.environment.spec.definition = definition;
    view.environment.spec.version = "1.10";
    const auto read = read_shown(view);
    ASSERT_TRUE(read) << read.error().message << "\n" << yaml_text(api::to_json(view));
    EXPECT_EQ(read->environment, view.environment) << yaml_text(api::to_json(view));
  }
}

TEST(ShownEnvironment, OfWhichNotAllIsShownIsRefused) {
  EnvironmentView view = sample_environment();
  view.environment.spec.definition = sample_lock();
  EXPECT_THAT(read_shown(view).error().message,
              testing::HasSubstr("'conda_file.locked' is only the number of packages in a lock "
                                 "file; name the lock file itself"));
  view.environment.spec.definition =
      DockerEnvironment{"", ImageBuild{sha256("context"), "Dockerfile"}, {}};
  EXPECT_THAT(read_shown(view).error().message,
              testing::HasSubstr("'build.context' is the digest of a folder that the launcher has "
                                 "stored; name the folder itself: {path: FOLDER}"));
}

TEST(EnvironmentText, CannotFoolATerminal) {
  EnvironmentView view = sample_environment();
  view.environment.description = "\x1b[31mred";
  EXPECT_EQ(environment_text(view).find('\x1b'), std::string::npos);
  JobView job = job_with_environment();
  job.attempts.back().parts.back().environment->how = "a\nb\x1b[31m";
  EXPECT_EQ(environment_line(job.attempts.back().parts.back()).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace lockstep::cli
