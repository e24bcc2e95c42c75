// Who runs the code that users chose, when the agent is root and the job's user is not: an
// interpreter, a package's build and post-link scripts, the lines of a Dockerfile, and what looks
// into an image. Each provider, and both engines. Code outside a container writes its user's number
// into a folder that everybody may write.

#include <sys/stat.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/unit/agent/environment/environment_support.h"
#include "tests/unit/envs/docker_fixture.h"

namespace lockstep::agent {
namespace {

using testing::HasSubstr;

constexpr const char* kUser = "nobody";
constexpr const char* kUid = "65534\n";

class UserCode : public EnvironmentTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can run as others";
    EnvironmentTest::SetUp();
    ASSERT_EQ(::chmod(dir.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod((dir / "wheels").c_str(), 0755), 0);
    dir.folder("said");
    ASSERT_EQ(::chmod((dir / "said").c_str(), 0777), 0);
  }
  static void TearDownTestSuite() { packages().reset(); }

  // Once for all tests: they install what installs conda's packages.
  static std::unique_ptr<TempDir>& packages() {
    static std::unique_ptr<TempDir> all;
    if (!all) {
      all = std::make_unique<TempDir>();
      ::chmod(all->path().c_str(), 0755);
    }
    return all;
  }
  std::string canary(const std::string& name) const {
    return fmt::format("id -u >>{}/{}", dir / "said", name);
  }
  // What was written, each line once.
  std::string said_by(const std::string& name) const {
    std::istringstream lines(io::read_file(dir / ("said/" + name)).value_or("nothing\n"));
    std::set<std::string> once;
    for (std::string line; std::getline(lines, line);) once.insert(line + "\n");
    return fmt::format("{}", fmt::join(once, ""));
  }
  CondaEnvironment conda(const std::string& script) {
    const nlohmann::json package{
        {"name", "canary"}, {"version", "1"}, {"files", {{"bin/.canary-post-link.sh", script}}}};
    dir.file("channel.json", nlohmann::json::array({package}).dump());
    const auto made = io::run_program(
        {"/usr/bin/python3", LOCKSTEP_CONDA_CHANNEL, dir / "channel", dir / "channel.json"},
        seconds(60));
    EXPECT_TRUE(made && made->exit_code == 0) << (made ? made->errors : made.error().message);
    EXPECT_EQ(std::system(fmt::format("chmod -R a+rX {}", dir / "channel").c_str()), 0);
    CondaEnvironment definition;
    definition.channels = {"file://" + (dir / "channel")};
    definition.dependencies = {"canary"};
    return definition;
  }
  struct Made {
    bool is_ready = false;
    std::string log;
    Activation activation;
    std::string failure;
  };
  Made make(const EnvironmentDefinition& definition,
            const std::string& program = test::open_program(LOCKSTEP_ENV)) {
    Keeping node(dir / "home", locks, {}, program, dir / "spawn");
    node.share(packages()->path());
    Assignment job = node.staged("job", definition);
    job.spec.run_as = kUser;
    const auto& said = node.prepare(job);
    Made made{said.is_ready(), node.log_of(job), {}, ""};
    if (made.is_ready) made.activation = node.activation_of(job);
    if (said.failed) made.failure = said.failed->error.message;
    return made;
  }
};

TEST_F(UserCode, AnInterpreterIsAskedAsTheJobsUser) {
  dir.file("python", "#!/bin/sh\n" + canary("python") + "\nexec /usr/bin/python3 \"$@\"\n", 0755);
  const Made made = make(HostEnvironment{dir / "python"});
  EXPECT_TRUE(made.is_ready) << made.log;
  EXPECT_EQ(said_by("python"), kUid);
}

TEST_F(UserCode, ASourcePackageIsBuiltAsTheJobsUser) {
  dir.folder("canary-1");
  dir.file("canary-1/PKG-INFO", "Metadata-Version: 2.1\nName: canary\nVersion: 1\n");
  dir.file("canary-1/pyproject.toml",
           "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n");
  dir.file("canary-1/backend.py",
           "import os, zipfile\n"
           "def build_wheel(folder, *rest):\n"
           "    os.system('" +
               canary("sdist") +
               "')\n"
               "    name = 'canary-1-py3-none-any.whl'\n"
               "    info = 'canary-1.dist-info'\n"
               "    with zipfile.ZipFile(f'{folder}/{name}', 'w') as wheel:\n"
               "        wheel.writestr(f'{info}/METADATA', "
               "'Metadata-Version: 2.1\\nName: canary\\nVersion: 1\\n')\n"
               "        wheel.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\n"
               "Root-Is-Purelib: true\\nTag: py3-none-any\\n')\n"
               "        wheel.writestr(f'{info}/RECORD', '')\n"
               "    return name\n");
  const auto packed = io::run_program(
      {"tar", "-C", dir.path(), "-czf", dir / "wheels/canary-1.tar.gz", "canary-1"}, seconds(30));
  ASSERT_TRUE(packed && packed->exit_code == 0);
  const Made made = make(asks_for({"canary"}));
  EXPECT_TRUE(made.is_ready) << made.log;
  EXPECT_EQ(said_by("sdist"), kUid);
}

TEST_F(UserCode, APostLinkScriptRunsAsTheJobsUser) {
  const Made made = make(conda(canary("conda") + "\n"));
  EXPECT_TRUE(made.is_ready) << made.log;
  EXPECT_EQ(said_by("conda"), kUid);
}

// Its engine's program would run as the agent, and a tool of the same user can speak for its
// lockstep-env. This one does.
TEST_F(UserCode, WhatTheJobsUserSaysOfAContainerIsNotBelieved) {
  dir.file("evil", "#!/bin/sh\n" + canary("evil") + "\n", 0755);
  Activation forged;
  forged.container.emplace().engine = dir / "evil";
  envs::Event event;
  event.activation = forged;
  dir.file("program", "#!/bin/sh\ncat >&3 <<'END'\n" + envs::to_json(event) + "END\n", 0755);
  const Made made = make(HostEnvironment{"/usr/bin/python3"}, dir / "program");
  EXPECT_FALSE(made.is_ready) << made.log;
  EXPECT_THAT(made.failure, HasSubstr("named a container"));
  EXPECT_EQ(said_by("evil"), "nothing\n");
}

// ---- images -------------------------------------------------------------------------------------

// Of `docker` or `podman`: the images of a test.
class UserCodeInImage : public UserCode, public testing::WithParamInterface<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (test::DockerDaemon::why_not().empty()) daemon_ = std::make_unique<test::DockerDaemon>();
  }
  static void TearDownTestSuite() {
    daemon_.reset();
    UserCode::TearDownTestSuite();
  }
  void SetUp() override {
    if (!daemon_) GTEST_SKIP() << test::DockerDaemon::why_not();
    if (const std::string why = envs::Podman::why_not(); is_podman() && !why.empty())
      GTEST_SKIP() << why;
    UserCode::SetUp();
    daemon_->import_busybox("base:1");
    // As lockstep-spawn says it; the C library's version tells who asked.
    dir.file("spawn",
             "#!/bin/sh\necho bash no; echo sh yes; echo glibc 2.$(id -u); echo memlock 65536\n",
             0755);
    if (is_podman()) {
      podman_.emplace();
      daemon_->words({"save", "--output", dir / "base.tar", "base:1"});
      podman_->words({"load", "--quiet", "--input", dir / "base.tar"});
      set(podman_->variables());
    } else {
      set({{"DOCKER_HOST", daemon_->host()},
           {"LOCKSTEP_CONTAINER_ENGINE", test::DockerDaemon::client()}});
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : set_) ::unsetenv(name.c_str());
  }
  static bool is_podman() { return GetParam() == "podman"; }
  std::string in_container(const std::string& image, const std::string& path) const {
    const std::vector<std::string> words{"run",       "--rm", "--network", "host", "--user",
                                         "1234:1234", image,  "cat",       path};
    return is_podman() ? podman_->words(words) : daemon_->words(words);
  }

 private:
  void set(std::map<std::string, std::string> variables) {
    set_ = std::move(variables);
    for (const auto& [name, value] : set_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  static inline std::unique_ptr<test::DockerDaemon> daemon_;
  std::optional<envs::Podman> podman_;
  std::map<std::string, std::string> set_;
};

TEST_P(UserCodeInImage, AnImageIsLookedIntoAsTheJobsUser) {
  const Made made = make(DockerEnvironment{"base:1", {}, {}});
  ASSERT_TRUE(made.is_ready) << made.log;
  EXPECT_THAT(made.log, HasSubstr("glibc 2.65534"));
}

// Root in a container that can do nothing outside: without CAP_SYS_ADMIN (21), under seccomp.
TEST_P(UserCodeInImage, LinesOfADockerfileRunInAnUnprivilegedContainer) {
  const std::string text =
      "FROM base:1\nRUN grep -E '^(CapEff|Seccomp):' /proc/self/status >/may\n";
  dir.folder("context");
  dir.file("context/Dockerfile", text);
  dir.folder("kept");
  locks.kept = dir / "kept";
  locks.folders[sha256(text)] = dir / "context";
  const Made made = make(DockerEnvironment{"", ImageBuild{sha256(text), "Dockerfile"}, {}});
  ASSERT_TRUE(made.is_ready && made.activation.container) << made.log;
  std::istringstream said(in_container(made.activation.container->image, "/may"));
  std::string key, capabilities, seccomp;
  said >> key >> capabilities >> key >> seccomp;
  EXPECT_EQ(std::stoull(capabilities, nullptr, 16) & (1ull << 21), 0u) << capabilities;
  EXPECT_EQ(seccomp, "2");
  EXPECT_THAT(made.log, HasSubstr("glibc 2.65534"));
}

TEST_P(UserCodeInImage, PackagesOfCondaForAnImageAreInstalledAsTheJobsUser) {
  const CondaEnvironment packages =
      conda(canary("image") + "\necho installed >$PREFIX/by\nchmod 4755 $PREFIX/by\n");
  const Made made = make(DockerEnvironment{"base:1", {}, packages});
  ASSERT_TRUE(made.is_ready && made.activation.container) << made.log;
  EXPECT_EQ(said_by("image"), kUid);
  const std::string prefix = made.activation.variables.at("CONDA_PREFIX");
  EXPECT_EQ(in_container(made.activation.container->image, prefix + "/by"), "installed");
}

// The engine's client is root: what it reads must be the user's own file.
TEST_P(UserCodeInImage, AnArchiveThatLeadsElsewhereIsRefused) {
  dir.file("secret", "secret", 0600);
  // In tar's place, of the packages' own PATH: a link instead of an archive.
  dir.folder("bin");
  dir.file("bin/tar", fmt::format("#!/bin/sh\nln -s {} $TMPDIR/packages.tar\n", dir / "secret"),
           0755);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", fmt::format("{}:{}", dir / "bin", path).c_str(), 1);
  const Made made = make(DockerEnvironment{"base:1", {}, conda("true\n")});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(made.is_ready);
  EXPECT_THAT(made.log + made.failure, HasSubstr("is not a file of user nobody alone"));
}

INSTANTIATE_TEST_SUITE_P(Engines, UserCodeInImage, testing::Values("docker", "podman"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lockstep::agent
