// Jobs in containers: what operators allow them, and what their images are built from.

#include "launcher/state/roots.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

JobSpec in_container(const std::string& name, std::vector<std::string> docker_args = {}) {
  JobSpec spec = job_spec(name);
  spec.environment = EnvironmentSpec{"", "", DockerEnvironment{"debian", {}, {}}};
  spec.resources.docker_args = std::move(docker_args);
  return spec;
}

DockerEnvironment built(const std::string& context) {
  return {"", ImageBuild{sha256(context), "Dockerfile"}, {}};
}

TEST(DockerArgsOfJobs, WhatGivesRightsIsRefusedUnlessTheOperatorAllowsIt) {
  TestLauncher strict;
  const Error refused = strict.submit_refused(in_container("a", {"--privileged"}));
  EXPECT_EQ(refused.code, ErrorCode::permission_denied);
  EXPECT_EQ(refused.message,
            "resources.docker_args: '--privileged' is refused unless the operator allows it: "
            "lockstepd --allow-docker-args --privileged");
  EXPECT_EQ(strict.core->state().jobs().size(), 0U);
  strict.submit(in_container("b", {"--ulimit", "memlock=-1"}));
  JobSpec outside = job_spec("c");  // where it means nothing
  outside.resources.docker_args = {"--privileged"};
  strict.submit(outside);

  CoreConfig config;
  config.allowed_docker_args = {"--privileged"};
  TestLauncher open(config);
  open.submit(in_container("a", {"--privileged"}));
  EXPECT_EQ(open.submit_refused(in_container("b", {"--privileged", "--device=/dev/kvm"})).code,
            ErrorCode::permission_denied);
  EXPECT_EQ(open.submit_refused(in_container("c", {"--network=host"})).code,
            ErrorCode::invalid_argument);
}

Inventory with_engine(const std::string& engine) {
  Inventory there = inventory();
  there.container_engine = engine;
  return there;
}

TEST(EnginesOfNodes, AJobWaitsForANodeThatHasOne) {
  TestLauncher launcher;
  FakeNode bare = launcher.join("bare", with_engine(""));
  const JobId waits = launcher.submit(in_container("waits"));
  EXPECT_EQ(launcher.status(waits), JobStatus::queued);
  EXPECT_THAT(launcher.view(waits).reason, ::testing::HasSubstr("bare has no container engine"));
  FakeNode old = launcher.join("old");  // its agent does not say: it may have one
  EXPECT_EQ(launcher.placed_on(attempt(waits)), std::vector<NodeId>{old.id});
  FakeNode able = launcher.join("able", with_engine("podman"));
  const JobId next = launcher.submit(in_container("next"));
  EXPECT_EQ(launcher.placed_on(attempt(next)), std::vector<NodeId>{able.id});
}

TEST(EnginesOfNodes, WhereNoNodeCanComeItIsRefused) {
  CoreConfig config;
  config.fixed_nodes = 1;
  TestLauncher launcher(config);
  FakeNode bare = launcher.join("bare", with_engine(""));
  EXPECT_THAT(launcher.submit_refused(in_container("a")).message,
              ::testing::HasSubstr("needs a container engine on a node, but 1 of the 1 nodes"));
  launcher.submit(job_spec("outside"));
}

TEST(BuiltImages, WhatTheyAreBuiltFromIsKept) {
  TestLauncher launcher;
  const auto roots = [&] {
    std::vector<std::string> found;
    each_root(launcher.core->state(), [&](const Root& root) {
      EXPECT_EQ(root.tree, sha256(root.what == "the build folder of its image" ? "job" : "named"));
      found.push_back(describe(root));
    });
    return found;
  };
  JobSpec spec = job_spec("train");
  spec.environment = EnvironmentSpec{"", "", built("job")};
  launcher.submit(spec);
  EXPECT_THAT(roots(), ::testing::ElementsAre("job train, the build folder of its image"));
  launcher.send(CreateEnvironmentInput{
      launcher.next_reply(), {{"tools", "", built("named")}, "", {}}, "", UserCaller{"ada"}});
  launcher.take<ReplyEnvironment>();
  EXPECT_THAT(roots(), ::testing::ElementsAre("job train, the build folder of its image",
                                              "the build folder of environment tools"));
  EXPECT_THAT(launcher.core->trees(),
              ::testing::UnorderedElementsAre(sha256("job"), sha256("named")));
}

}  // namespace
}  // namespace lockstep::launcher
