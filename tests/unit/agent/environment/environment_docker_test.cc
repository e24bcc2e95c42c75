// Images as the agent has them made ready: with the real lockstep-env and a Docker daemon of the
// test's own.

#include <signal.h>
#include <sys/wait.h>

#include "agent/environment/container_engine.h"
#include "agent/environment/container_sweep.h"
#include "common/domain/why/all/convert.h"
#include "tests/unit/agent/environment/environment_support.h"
#include "tests/unit/support/docker_daemon.h"
#include "tests/unit/support/docker_registry.h"

namespace lockstep::agent {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class EnvironmentDockerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (test::DockerDaemon::why_not().empty()) daemon_ = std::make_unique<test::DockerDaemon>();
  }
  static void TearDownTestSuite() { daemon_.reset(); }
  void SetUp() override {
    if (!daemon_) GTEST_SKIP() << test::DockerDaemon::why_not();
    use(*daemon_);
    ::setenv("LOCKSTEP_CONTAINER_ENGINE", test::DockerDaemon::client().c_str(), 1);
    daemon_->import_busybox("base:1");
    // As lockstep-spawn says it.
    dir.file("spawn", "#!/bin/sh\necho bash no; echo sh yes; echo glibc -; echo memlock 65536\n",
             0755);
    ::chmod(dir.path().c_str(), 0755);
    dir.folder("kept");
    locks.kept = dir / "kept";
  }
  void TearDown() override {
    if (!daemon_) return;
    EXPECT_EQ(daemon_->words({"ps", "--all", "--quiet"}), "");
    ::unsetenv("DOCKER_HOST");
    ::unsetenv("LOCKSTEP_CONTAINER_ENGINE");
  }

  const test::DockerDaemon& docker() const { return *daemon_; }
  static void use(const test::DockerDaemon& daemon) {
    ::setenv("DOCKER_HOST", daemon.host().c_str(), 1);
  }
  // A context of the launcher's store, with this Dockerfile.
  DockerEnvironment dockerfile(const std::string& text) {
    const Digest tree = sha256(text);
    const std::string folder = "context-" + tree.hex();
    dir.folder(folder);
    dir.file(folder + "/Dockerfile", text);
    locks.folders[tree] = dir / folder;
    return {"", ImageBuild{tree, "Dockerfile"}, {}};
  }
  std::unique_ptr<Keeping> node(const std::string& name, Bytes limit = {}) {
    return std::make_unique<Keeping>(dir / name, locks, limit, LOCKSTEP_ENV, dir / "spawn");
  }
  static std::string tags(const test::DockerDaemon& daemon) {
    return daemon.words({"images", "--format", "{{.Repository}}:{{.Tag}}", "lockstep/env"});
  }
  static std::string tag_of(const Keeping::Said& said) {
    return said.is_ready() ? "lockstep/env:" + said.reports.back().key.hex().substr(0, 16) : "none";
  }

  TempDir dir;
  FakeLocks locks;

 private:
  static inline std::unique_ptr<test::DockerDaemon> daemon_;
};

TEST_F(EnvironmentDockerTest, ABuiltImageIsReadyAndReusedWhileTheEngineHasIt) {
  const auto keeping = node("node");
  const auto definition = dockerfile("FROM base:1\nENV A=1\nRUN true\n");
  const Assignment first = keeping->staged("first", definition);
  const auto& said = keeping->prepare(first);
  ASSERT_TRUE(said.is_ready()) << keeping->log_of(first);
  EXPECT_EQ(said.reports.back().platform.substr(0, 5), "linux");
  const Activation activation = keeping->activation_of(first);
  ASSERT_TRUE(activation.container);
  EXPECT_EQ(activation.container->image,
            docker().words({"image", "inspect", "--format", "{{.Id}}", tag_of(said)}));
  EXPECT_THAT(keeping->log_of(first), HasSubstr("RUN true"));
  EXPECT_EQ(locks.written_out, 1);  // the context

  const Assignment second = keeping->staged("second", definition);
  ASSERT_TRUE(keeping->build(second, said.reports.front()).is_ready());
  EXPECT_THAT(keeping->log_of(second), HasSubstr("reused"));
  EXPECT_EQ(keeping->activation_of(second), activation);
}

// Another node's engine may have it.
TEST_F(EnvironmentDockerTest, AnImageThatNoRegistryHasIsPassedOnAndFailsAtLast) {
  if (!test::DockerRegistry::is_here()) GTEST_SKIP() << "needs docker-registry";
  const test::DockerRegistry registry(dir.path());
  const auto keeping = node("node");
  const DockerEnvironment definition{registry.host() + "/team/none:1", {}, {}};
  for (const char* name : {"first", "second"}) {
    Assignment job = keeping->staged(name, definition);
    job.environment.others_may_solve = true;
    const auto& said = keeping->solve(job);
    ASSERT_FALSE(said.failed) << said.failed->error.message;
    EXPECT_EQ(said.reports.back().step, EnvironmentReport::Step::not_solved);
    EXPECT_THAT(log_text(said.reports.back().why), HasSubstr("of this node nor in its registry"));
  }
  const auto& last = keeping->solve(keeping->staged("third", definition));
  ASSERT_TRUE(last.failed);
  EXPECT_EQ(last.failed->cause, Cause::environment_failed);
}

TEST_F(EnvironmentDockerTest, AnImageThatSomebodyRemovedIsMadeReadyAgain) {
  const auto keeping = node("node");
  const Assignment first = keeping->staged("first", dockerfile("FROM base:1\nRUN echo again\n"));
  auto shared = first;
  shared.environment.share = true;
  const auto said = keeping->prepare(shared);
  ASSERT_TRUE(said.is_ready()) << keeping->log_of(first);
  docker().words({"image", "rm", "--force", keeping->activation_of(first).container->image});
  Assignment second = keeping->staged("second", first.spec.environment->definition);
  ASSERT_TRUE(keeping->build(second, said.reports.front()).is_ready()) << keeping->log_of(second);
  EXPECT_THAT(keeping->log_of(second),
              AllOf(HasSubstr("no longer has the environment's image"), Not(HasSubstr("reused"))));
  EXPECT_EQ(docker().words({"image", "inspect", "--format", "{{.Id}}", tag_of(said)}),
            keeping->activation_of(second).container->image);
}

TEST_F(EnvironmentDockerTest, ATextForAShellIsRefusedWhereTheImageHasNone) {
  docker().import_busybox("bare:1", false);
  dir.file("spawn",
           "#!/bin/busybox sh\necho bash no; echo sh no; echo glibc -; echo memlock 65536\n", 0755);
  const auto keeping = node("home");
  Assignment job = keeping->staged("first", DockerEnvironment{"bare:1", {}, {}});
  job.spec.command = ShellCommand{"echo never"};
  const auto& said = keeping->prepare(job);
  ASSERT_TRUE(said.failed) << keeping->log_of(job);
  EXPECT_EQ(said.failed->cause, Cause::environment_failed);
  EXPECT_THAT(said.failed->error.message, HasSubstr("the image bare:1 has no shell (/bin/bash"));
  EXPECT_THAT(keeping->log_of(job), HasSubstr("failed: the image bare:1 has no shell"));
  // It is the command's fault, and not remembered of the image.
  Assignment other = keeping->staged("second", DockerEnvironment{"bare:1", {}, {}});
  other.spec.command = Argv{{"/bin/busybox"}};
  EXPECT_TRUE(keeping->prepare(other).is_ready()) << keeping->log_of(other);
}

TEST_F(EnvironmentDockerTest, AnotherNodeGetsTheImageFromTheLauncher) {
  const auto here = node("here");
  const Assignment first = here->staged("first", dockerfile("FROM base:1\nRUN echo far\n"));
  auto shared = first;
  shared.environment.share = true;
  const auto said = here->prepare(shared);
  ASSERT_TRUE(said.is_ready()) << here->log_of(first);
  EXPECT_EQ(locks.written_out, 1);  // the context alone: here it was built

  const test::DockerDaemon other;
  use(other);
  const auto there = node("there");
  const Assignment second = there->staged("second", first.spec.environment->definition);
  ASSERT_TRUE(there->build(second, said.reports.front()).is_ready()) << there->log_of(second);
  EXPECT_EQ(locks.written_out, 2);
  EXPECT_EQ(there->activation_of(second).container->image,
            here->activation_of(first).container->image);
  EXPECT_EQ(said.reports.back().key,
            there->said[second.attempt].reports.back().key);  // wherever it was built
  for (const std::string& name : there->built())
    EXPECT_FALSE(io::exists(there->home.environments() + "/0/" + name + "/image"));
}

TEST_F(EnvironmentDockerTest, ANodeThatCannotHaveTheImageSaysWhereItIs) {
  const auto here = node("here");
  const Assignment first = here->staged("first", dockerfile("FROM base:1\nRUN echo alone\n"));
  const auto said = here->prepare(first);
  ASSERT_TRUE(said.is_ready()) << here->log_of(first);
  const test::DockerDaemon other;
  use(other);
  const auto there = node("there");
  const Assignment second = there->staged("second", first.spec.environment->definition);
  const auto& failed = there->build(second, said.reports.front());
  ASSERT_TRUE(failed.failed);
  EXPECT_THAT(failed.failed->error.message,
              AllOf(HasSubstr("is only on node "), HasSubstr("--rebuild")));
}

TEST_F(EnvironmentDockerTest, ATagGoesWithItsEnvironmentAndItsBytesCount) {
  auto keeping = node("node", mebibytes(1));  // busybox has two
  const Assignment first = keeping->staged("first", dockerfile("FROM base:1\nRUN echo one\n"));
  const auto said = keeping->prepare(first);
  ASSERT_TRUE(said.is_ready()) << keeping->log_of(first);
  EXPECT_THAT(tags(docker()), HasSubstr(tag_of(said)));
  ASSERT_TRUE(io::remove_tree(keeping->home.attempt(first.attempt).path()));
  // The next one makes it the oldest, and too much.
  const Assignment second = keeping->staged("second", dockerfile("FROM base:1\nRUN echo two\n"));
  const auto next = keeping->prepare(second);
  ASSERT_TRUE(next.is_ready()) << keeping->log_of(second);
  EXPECT_TRUE(keeping->until([&] {
    return tags(docker()).find(tag_of(said)) == std::string::npos;
  })) << tags(docker());
  EXPECT_THAT(tags(docker()), HasSubstr(tag_of(next)));  // its attempt is there
  EXPECT_EQ(
      docker().run({"image", "inspect", keeping->activation_of(second).container->image}).exit_code,
      0);
}

TEST_F(EnvironmentDockerTest, ContainersOfAttemptsWithoutARunnerAreRemoved) {
  const auto keeping = node("node");
  const Assignment first = keeping->staged("first", DockerEnvironment{"base:1", {}, {}});
  ASSERT_TRUE(keeping->prepare(first).is_ready()) << keeping->log_of(first);
  const auto start = [&](const std::string& home, const std::string& attempt) {
    return docker().words({"run", "--detach", "--network", "host", "--label",
                           "lockstep.home=" + home, "--label", "lockstep.attempt=" + attempt,
                           "base:1", "sleep", "600"});
  };
  // Its runner: a process of ours that lives.
  const std::string alive = io::AttemptDir::name_of(first.attempt);
  const auto self = io::identify(::getpid());
  ASSERT_TRUE(io::write_file_atomically(keeping->home.attempt(first.attempt).runner_pid(),
                                        io::to_text(*self), 0644, false));
  const std::string kept = start(keeping->home.path(), alive);
  const std::string left = start(keeping->home.path(), "another.1");
  const std::string foreign = start(dir / "elsewhere", "another.1");
  const EnvironmentCache cache(keeping->home.environments());
  sweep_containers(cache, keeping->home);
  const std::string running = docker().words({"ps", "--all", "--quiet", "--no-trunc"});
  EXPECT_THAT(running, AllOf(HasSubstr(kept), HasSubstr(foreign), Not(HasSubstr(left))));
  // The agent does it from time to time, and when it starts.
  ASSERT_TRUE(io::write_file_atomically(keeping->home.attempt(first.attempt).runner_pid(),
                                        "999999999 1\n", 0644, false));
  keeping->environments->tick(io::SystemClock().now());
  EXPECT_TRUE(keeping->until([&] {
    return docker().words({"ps", "--all", "--quiet", "--no-trunc"}).find(kept) == std::string::npos;
  }));
  docker().words({"rm", "--force", foreign});
}

TEST_F(EnvironmentDockerTest, AnEngineThatIsAwayCostsThisStartAlone) {
  const auto keeping = node("node");
  const Assignment first = keeping->staged("first", DockerEnvironment{"base:1", {}, {}});
  const auto said = keeping->prepare(first);
  ASSERT_TRUE(said.is_ready()) << keeping->log_of(first);
  const Container container = *keeping->activation_of(first).container;
  EngineProgram away{container.engine, container.variables};
  away.variables["DOCKER_HOST"] = "unix://" + (dir / "nobody.sock");
  const auto there = look_for_image(away, container.image);
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(is_lasting(there.error()));
}

}  // namespace
}  // namespace lockstep::agent
