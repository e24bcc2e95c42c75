// Images of a registry, which is a real one of the test's own.

#include "tests/unit/support/docker_registry.h"
#include "tests/unit/envs/docker_fixture.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

class DockerRegistryTest : public DockerTest {
 protected:
  void SetUp() override {
    if (!test::DockerRegistry::is_here()) GTEST_SKIP() << "needs docker-registry";
    DockerTest::SetUp();
    if (IsSkipped()) return;
    registry.emplace(dir.path());
    name = registry->host() + "/team/base:1";
    id = docker().import_busybox(name);
    docker().words({"push", name});
    docker().words({"image", "rm", "--force", name});
  }
  std::optional<test::DockerRegistry> registry;
  std::string name, id;
};

TEST_F(DockerRegistryTest, AnImageIsPulledOnceByNameAndThenByDigest) {
  const Told told = solve({name, {}, {}}, sharing("solve"));
  const Lock lock = lock_of(told);
  EXPECT_THAT(told.log, HasSubstr("pulling " + name));
  const auto says_layers = [](const Event& event) { return event.progress == "image layers 1/1"; };
  EXPECT_TRUE(std::any_of(told.events.begin(), told.events.end(), says_layers)) << told.log;
  EXPECT_EQ(lock.image->id, id);
  EXPECT_THAT(lock.image->digest, HasSubstr(registry->host() + "/team/base@sha256:"));
  EXPECT_FALSE(lock.image->in_tree);
  // The name is another image by now.
  const std::string newer = docker().import_busybox(name);
  docker().words({"push", name});
  const test::DockerDaemon other;
  more["DOCKER_HOST"] = other.host();
  const Told built = build(lock, site("build"));
  EXPECT_EQ(container_of(built).image, id);
  EXPECT_THAT(built.log, HasSubstr("pulling " + lock.image->digest));
  const auto record = image_record_from_json(dir.read("build/image.json"));
  ASSERT_TRUE(record);
  EXPECT_THAT(record->names, testing::Contains(lock.image->digest));
  // Solved anew, it is the newest.
  Site again = site("again");
  again.is_rebuild = true;
  more["DOCKER_HOST"] = docker().host();
  EXPECT_EQ(lock_of(solve({name, {}, {}}, again)).image->id, newer);
}

TEST_F(DockerRegistryTest, WhatARegistryDoesNotHaveIsSaidInItsWords) {
  expect_failure(solve({registry->host() + "/team/base:none", {}, {}}, site("solve")),
                 ErrorCode::not_found, "manifest");
}

TEST_F(DockerRegistryTest, ARegistryThatIsAwayMayComeBack) {
  registry->stop();
  expect_failure(solve({name, {}, {}}, site("solve")), ErrorCode::unavailable, "refused");
}

TEST_F(DockerRegistryTest, WhatARegistryDoesNotGiveAnyMoreIsShared) {
  docker().words({"pull", name});
  registry->stop();
  const Lock lock = lock_of(solve({name, {}, {}}, sharing("solve")));
  EXPECT_EQ(lock.image->digest, "");
  EXPECT_TRUE(lock.image->in_tree);
}

}  // namespace
}  // namespace lockstep::envs
