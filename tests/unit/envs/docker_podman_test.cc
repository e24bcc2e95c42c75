// Images with podman, and what goes from docker to podman and back.

#include "envs/docker/info.h"
#include "tests/unit/envs/docker_fixture.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

class PodmanTest : public DockerTest {
 protected:
  void SetUp() override {
    if (const std::string why = Podman::why_not(); !why.empty()) GTEST_SKIP() << why;
    DockerTest::SetUp();
    if (IsSkipped()) return;
    podman.emplace();
    docker().import_busybox("base:1");
  }
  void TearDown() override {
    if (podman) {
      EXPECT_EQ(podman->words({"ps", "--all", "--quiet", "--external"}), "");
    }
    DockerTest::TearDown();
  }
  // The same image, for podman.
  void give_base() {
    docker().words({"save", "--output", dir / "base.tar", "base:1"});
    podman->words({"load", "--quiet", "--input", dir / "base.tar"});
  }
  void use_podman() { more = podman->variables(); }
  Lock solved_and_shared(const std::string& text) {
    const Lock lock = lock_of(solve(dockerfile(text), sharing("solve")));
    EXPECT_TRUE(lock.image && lock.image->in_tree);
    return lock;
  }
  Told loaded(const Lock& lock) {
    Site where = site("build");
    where.image.tree = dir / "solve";
    return build(lock, where);
  }
  std::optional<Podman> podman;
};

TEST_F(PodmanTest, FindsAnImageAndLooksIntoIt) {
  give_base();
  use_podman();
  const Lock lock = lock_of(solve({"base:1", {}, {}}, site("solve")));
  EXPECT_THAT(lock.solver, HasSubstr("podman "));
  EXPECT_EQ(lock.image->digest, "");  // no registry has it, whatever podman calls it
  const Told told = build(lock, site("build"));
  const Container container = container_of(told);
  EXPECT_TRUE(container.is_podman);
  EXPECT_EQ(container.engine, "/usr/bin/podman");
  EXPECT_EQ(container.image, lock.image->id);
  EXPECT_EQ(container.shell, "/bin/sh");
  EXPECT_EQ(container.variables.at("CONTAINERS_CONF"), more.at("CONTAINERS_CONF"));
  EXPECT_EQ(
      "sha256:" + podman->words({"image", "inspect", "--format", "{{.Id}}", "lockstep/env:build"}),
      lock.image->id);
}

TEST_F(PodmanTest, WhatDockerBuiltHasTheSameIdInPodman) {
  const Lock lock = solved_and_shared("FROM base:1\nENV A=1\nRUN echo x >/y\n");
  use_podman();
  EXPECT_EQ(container_of(loaded(lock)).image, lock.image->id);
}

TEST_F(PodmanTest, WhatPodmanBuiltHasTheSameIdInDocker) {
  give_base();
  use_podman();
  const Lock lock = solved_and_shared("FROM base:1\nENV B=1\nCOPY Dockerfile /y\n");
  more = {{"DOCKER_HOST", docker().host()}};
  EXPECT_EQ(container_of(loaded(lock)).image, lock.image->id);
}

TEST_F(PodmanTest, IsTakenWhereThereIsNoDocker) {
  give_base();
  use_podman();
  more.erase("LOCKSTEP_CONTAINER_ENGINE");
  dir.folder("bin");
  for (const std::string name : {"podman", "timeout", "sh"})
    ASSERT_EQ(::symlink(("/usr/bin/" + name).c_str(), (dir / ("bin/" + name)).c_str()), 0);
  more["PATH"] = dir / "bin";
  const Told told = solve({"base:1", {}, {}}, site("solve"));
  EXPECT_THAT(lock_of(told).solver, HasSubstr("podman "));
}

TEST_F(PodmanTest, IsNoSubstituteForADockerThatIsSetUpAndAway) {
  give_base();
  use_podman();
  more.erase("LOCKSTEP_CONTAINER_ENGINE");
  more["DOCKER_HOST"] = "unix://" + (dir / "nobody.sock");
  const Told told = solve({"base:1", {}, {}}, site("solve"));
  ASSERT_TRUE(told.last().failed);
  EXPECT_EQ(told.last().failed->code, ErrorCode::unavailable);
  EXPECT_THAT(told.last().failed->message, HasSubstr("/usr/bin/docker does not answer: "));
}

// The podman of Debian 12 lets them reach files of the node; a vendor's may be mended.
TEST_F(PodmanTest, MountsOfAnOldOneAreRefusedUnlessTheOperatorAllowsThem) {
  const auto info = engine_info_from(podman->words({"info", "--format", "{{json .}}"}), "");
  ASSERT_TRUE(info);
  give_base();
  use_podman();
  const auto definition = dockerfile("FROM base:1\nRUN --mount=type=cache,target=/x true\n");
  if (info->mounts_lead_out)
    expect_failure(solve(definition, site("solve")), ErrorCode::invalid_argument,
                   info->name + " runs as root here");
  more["LOCKSTEP_PODMAN_MOUNTS"] = "allow";
  // The engine gets it; whether it can run it is the test machine's matter.
  EXPECT_THAT(solve(definition, site("again")).log, HasSubstr("building the image"));
}

// The other kinds of what it reads are as docker's.
TEST_F(PodmanTest, ALineBehindABlankOfUnicodeIsRefused) {
  use_podman();
  expect_failure(solve(dockerfile("FROM base:1\n\u00a0RUN true\n"), site("solve")),
                 ErrorCode::invalid_argument, "line 2 is refused: it has the character U+00A0");
}

TEST_F(PodmanTest, AShortNameThatItDoesNotKnowIsAnsweredWithWhatToWrite) {
  use_podman();
  const Told told = solve(dockerfile("FROM nowhere:1\n"), site("solve"));
  ASSERT_TRUE(told.last().failed);
  if (told.last().failed->message.find("short-name") != std::string::npos) {
    EXPECT_THAT(told.last().failed->message, HasSubstr("FROM docker.io/library/"));
  }
}

}  // namespace
}  // namespace lockstep::envs
