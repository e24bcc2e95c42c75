#include "launcher/files/environment/docker_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "launcher/files/job_file.h"
#include "tests/unit/launcher/files/environment/bad_environments.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::spec {
namespace {

using Words = std::vector<std::string>;

JobFile job_of(const std::string& text, const Files& files = {}, const Words& overrides = {}) {
  auto job = parse_job("jobs/job.yml", "command: x\n" + text, overrides, from(files));
  EXPECT_TRUE(job) << job.error().message;
  return job ? *std::move(job) : JobFile{};
}

DockerEnvironment docker_of(const JobFile& job) {
  const auto* docker = job.spec.environment
                           ? std::get_if<DockerEnvironment>(&job.spec.environment->definition)
                           : nullptr;
  EXPECT_NE(docker, nullptr);
  return docker == nullptr ? DockerEnvironment{} : *docker;
}

// ---- images
// --------------------------------------------------------------------------------------

TEST(DockerOfJob, AnImageIsTakenInEveryForm) {
  const DockerEnvironment want{"r.io:5000/team/train:v1", {}, {}};
  const std::string image = "image: r.io:5000/team/train:v1\n";
  EXPECT_EQ(docker_of(job_of("environment:\n  " + image)), want);
  EXPECT_EQ(docker_of(job_of("environment:\n  os_type: Linux\n  build:\n  " + image)), want);
  const JobFile in_file =
      job_of("environment: file:e.yml\n", {{"jobs/e.yml", "name: t\n" + image}});
  EXPECT_EQ(docker_of(in_file), want);
  EXPECT_EQ(in_file.spec.environment->name, "t");
  EXPECT_FALSE(in_file.build);
  EXPECT_EQ(docker_of(job_of("", {}, {"environment.image=r.io:5000/team/train:v1"})), want);
}

TEST(DockerOfJob, PackagesOfACondaFileGoOnTheImage) {
  const Files files{{"jobs/c.yml", "name: tools\nchannels: [a]\ndependencies: [numpy]\n"}};
  const JobFile job = job_of("environment: {image: debian, conda_file: c.yml}\n", files);
  const DockerEnvironment docker = docker_of(job);
  ASSERT_TRUE(docker.conda);
  EXPECT_EQ(docker.image, "debian");
  EXPECT_EQ(docker.conda->dependencies, Words{"numpy"});
  EXPECT_EQ(job.spec.environment->name, "tools");
  const std::string content = "{channels: [a], dependencies: [numpy]}";
  EXPECT_EQ(docker_of(job_of("environment: {image: debian, conda_file: " + content + "}\n")),
            docker);
  // Without an image it is what it was.
  EXPECT_TRUE(std::holds_alternative<CondaEnvironment>(
      job_of("environment: {image: , conda_file: " + content + "}\n")
          .spec.environment->definition));
}

// ---- builds
// --------------------------------------------------------------------------------------

TEST(DockerOfJob, ABuildsFolderIsNamedBesideTheDefinition) {
  const JobFile job = job_of("environment:\n  build:\n    path: ../docker\n");
  EXPECT_EQ(docker_of(job), (DockerEnvironment{"", ImageBuild{Digest{}, "Dockerfile"}, {}}));
  EXPECT_EQ(job.build,
            (BuildFolder{"docker", "Dockerfile", "jobs/job.yml:4:11: 'environment.build.path'",
                         "jobs/job.yml:4:11: 'environment.build.dockerfile_path'"}));
  const JobFile other = job_of(
      "environment:\n  build: {path: 'file:///srv/d', dockerfile_path: ./gpu//Dockerfile}\n"
      "  conda_file: {dependencies: [numpy]}\n");
  EXPECT_EQ(docker_of(other).build->dockerfile, "gpu/Dockerfile");
  EXPECT_TRUE(docker_of(other).conda);
  EXPECT_EQ(other.build->path, "/srv/d");
}

TEST(DockerOfJob, ABuildsFolderIsBesideTheFileThatNamesIt) {
  const JobFile job =
      job_of("environment: file:e/env.yml\n", {{"jobs/e/env.yml", "build: {path: .}\n"}});
  ASSERT_TRUE(job.build);
  EXPECT_EQ(std::filesystem::path(job.build->path) / "x", "jobs/e/x");
  EXPECT_EQ(job.build->where, "jobs/e/env.yml:1:15: 'build.path'");
  EXPECT_EQ(job_of("", {}, {"environment.build.path=d"}).build->where,
            "--set environment.build.path=d: 'environment.build.path'");
}

TEST(FindBuild, SaysWhatIsNotThere) {
  test::TempDir directory;
  const auto find = [&](const std::string& path, const std::string& dockerfile = "Dockerfile") {
    const Status found = find_build({directory / path, dockerfile, "P", "D"});
    if (found) return std::string("found");
    std::string message = found.error().message;
    const std::string root = directory.path();
    for (auto at = message.find(root); at != std::string::npos; at = message.find(root))
      message.replace(at, root.size(), "ROOT");
    return message;
  };
  directory.file("good/Dockerfile", "FROM debian\n");
  directory.file("good/gpu/Dockerfile", "FROM debian\n");
  directory.file("other/Containerfile", "FROM debian\n");
  std::filesystem::create_directory(directory / "empty");
  EXPECT_EQ(find("good"), "found");
  EXPECT_EQ(find("good", "gpu/Dockerfile"), "found");
  EXPECT_EQ(find("none"), "P: ROOT/none does not exist");
  directory.file("special/Dockerfile", "FROM debian\n");
  directory.folder("special/sub");
  ASSERT_EQ(::symlink("/dev/null", (directory / "special/sub/link").c_str()), 0);
  EXPECT_EQ(find("special"), "found");
  ASSERT_EQ(::mkfifo((directory / "special/sub/a pipe").c_str(), 0600), 0);
  EXPECT_EQ(find("special"),
            "P: ROOT/special/sub/a pipe cannot be uploaded, because it is a fifo; move it out of "
            "the folder");
  EXPECT_EQ(find("good/Dockerfile"),
            "P: ROOT/good/Dockerfile is not a directory; name the directory that the image is "
            "built from");
  EXPECT_EQ(find("empty"), "P: ROOT/empty is empty; put Dockerfile into it");
  EXPECT_EQ(find("other"), "D: ROOT/other/Dockerfile does not exist");
  EXPECT_EQ(find("good", "gpu"), "D: ROOT/good/gpu is not a file");
  std::filesystem::create_symlink("gpu/Dockerfile", directory / "good/inside");
  std::filesystem::create_symlink("../other/Containerfile", directory / "good/outside");
  EXPECT_EQ(find("good", "inside"), "found");
  EXPECT_EQ(find("good", "outside"),
            "D: ROOT/good/outside is a symlink that points outside the folder; container engines "
            "do not follow it");
}

TEST(FindBuild, IsAskedForAJobFile) {
  test::TempDir directory;
  directory.file("job.yml", "command: x\nenvironment: {build: {path: d}}\n");
  const std::string path = directory / "job.yml";
  const auto missing = load_job(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            path + ":2:29: 'environment.build.path': " + (directory / "d") + " does not exist");
  directory.file("d/Dockerfile", "FROM debian\n");
  const auto job = load_job(path);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->build->path, directory / "d");
}

// ---- resources
// -----------------------------------------------------------------------------------

TEST(DockerResources, SizesAreThoseOfAzure) {
  const auto size = [](const std::string& text) {
    return job_of("environment: {image: a}\nresources: {shm_size: " + text + "}\n")
        .spec.resources.shm_size;
  };
  EXPECT_EQ(size("2g"), gibibytes(2));
  EXPECT_EQ(size("512m"), mebibytes(512));
  EXPECT_EQ(size("64k"), kibibytes(64));
  EXPECT_EQ(size("65536b"), kibibytes(64));
  EXPECT_EQ(size("65536"), kibibytes(64));
  EXPECT_EQ(job_of("environment: {image: a}\n").spec.resources.shm_size, std::nullopt);
}

TEST(DockerResources, ArgumentsAreATextOrAList) {
  const auto words = [](const std::string& value) {
    return job_of("environment: {image: a}\nresources:\n  docker_args: " + value + "\n")
        .spec.resources.docker_args;
  };
  const Words want{"--ulimit", "memlock=-1", "-e", "A=b c"};
  EXPECT_EQ(words("--ulimit memlock=-1 -e 'A=b c'"), want);
  EXPECT_EQ(words("\"--ulimit memlock=-1 -e A=b\\\\ c\""), want);
  EXPECT_EQ(words("[--ulimit, memlock=-1, -e, A=b c]"), want);
  EXPECT_EQ(words("''"), Words{});
  EXPECT_EQ(words("[]"), Words{});
  EXPECT_EQ(words(""), Words{});
  // Its operator may allow it: that is the launcher's to say.
  EXPECT_EQ(words("--privileged"), Words{"--privileged"});
}

TEST(DockerResources, WithoutAContainerTheyAreIgnoredWithANote) {
  const std::string resources = "resources:\n  shm_size: 2g\n  docker_args: --init\n";
  const JobFile job = job_of(resources);
  ASSERT_EQ(job.notes.size(), 2U);
  EXPECT_EQ(
      job.notes[0],
      "jobs/job.yml:3:13: 'resources.shm_size' is ignored: this job does not run in a container");
  EXPECT_EQ(job.notes[1].substr(0, 46), "jobs/job.yml:4:16: 'resources.docker_args' is ");
  EXPECT_EQ(job_of("environment: {interpreter: p}\n" + resources).notes.size(), 2U);
  EXPECT_TRUE(job_of("environment: {image: a}\n" + resources).notes.empty());
  EXPECT_TRUE(job_of("environment: azureml:tools:1\n" + resources).notes.empty());
  EXPECT_TRUE(job_of("resources: {docker_args: ''}\n").notes.empty());
}

}  // namespace
}  // namespace lockstep::spec
