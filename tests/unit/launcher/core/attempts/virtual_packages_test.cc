// Conda definitions: what conda calls virtual packages, the same for all nodes of an attempt.

#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using Step = EnvironmentReport::Step;
using Packages = std::vector<std::string>;

JobSpec needing(EnvironmentDefinition definition, int nodes) {
  JobSpec spec = job_spec("job", nodes);
  spec.resources.cpus = 1;
  spec.environment = EnvironmentSpec{"", "", std::move(definition)};
  return spec;
}

EnvironmentDefinition zlib() {
  CondaEnvironment conda;
  conda.channels = {"conda-forge"};
  conda.dependencies = {"zlib"};
  return conda;
}

Inventory with_libraries(const std::string& glibc, const std::string& cuda) {
  Inventory made = inventory();
  made.glibc = glibc;
  made.cuda = cuda;
  return made;
}

struct CondaEnvironments : ::testing::Test {
  PartReport wants(const AttemptId& id, const std::string& platform) {
    PartReport made = report(id, PartState::staging);
    made.environment.emplace();
    made.environment->platform = platform;
    return made;
  }
  EnvironmentPlan plan(const FakeNode& node, const AttemptId& id) {
    return launcher.assignment(node, id).environment;
  }
  // What both nodes of one attempt are told.
  Packages of_both(const Inventory& one, const Inventory& other,
                   const EnvironmentDefinition& definition = zlib()) {
    FakeNode n1 = launcher.join("n1", one), n2 = launcher.join("n2", other);
    const AttemptId id = attempt(launcher.submit(needing(definition, 2)));
    EXPECT_EQ(plan(n1, id), plan(n2, id));
    return plan(n1, id).virtual_packages;
  }
  TestLauncher launcher;
};

TEST_F(CondaEnvironments, NodesAreToldTheLowestOfTheAttemptsNodes) {
  EXPECT_EQ(of_both(with_libraries("2.36", "12.4"), with_libraries("2.9", "12.10")),
            (Packages{"__cuda=12.4", "__glibc=2.9"}));
}

TEST_F(CondaEnvironments, WhatOneNodeLacksIsLeftOut) {
  EXPECT_EQ(of_both(with_libraries("2.36", "12.4"), with_libraries("2.31", "")),
            Packages{"__glibc=2.31"});
}

TEST_F(CondaEnvironments, WhatIsNoVersionDoesNotCount) {
  EXPECT_EQ(of_both(with_libraries("2.36", "12.4 evil"), with_libraries("", "12.4")), Packages{});
}

TEST_F(CondaEnvironments, OtherDefinitionsKnowOfNone) {
  EXPECT_EQ(of_both(with_libraries("2.36", "12.4"), with_libraries("2.36", "12.4"),
                    VenvEnvironment{"python3", {}, {"numpy"}, {}}),
            Packages{});
}

TEST_F(CondaEnvironments, OnlyTheAttemptsOwnNodesCount) {
  FakeNode old = launcher.join("old", with_libraries("2.9", ""));
  launcher.send(DrainInput{launcher.next_reply(), "old", true, "maintenance"});
  launcher.expect_one<ReplyDone>();
  launcher.drop_notices();
  FakeNode n1 = launcher.join("n1", with_libraries("2.36", "12.4"));
  const AttemptId id = attempt(launcher.submit(needing(zlib(), 1)));
  EXPECT_EQ(plan(n1, id).virtual_packages, (Packages{"__cuda=12.4", "__glibc=2.36"}));
}

// An attempt's nodes build the same to its end, whatever they say of themselves meanwhile.
TEST_F(CondaEnvironments, ANodeThatComesBackWithOthersChangesThemForTheNextAttempt) {
  FakeNode n1 = launcher.join("n1", with_libraries("2.36", "12.4"));
  FakeNode n2 = launcher.join("n2", with_libraries("2.36", "12.4"));
  const JobId job = launcher.submit(needing(zlib(), 2));
  const Packages first{"__cuda=12.4", "__glibc=2.36"};
  n2.inventory.glibc = "2.31";
  n2.inventory.cuda = "";
  launcher.restart_agent(n2, {report(attempt(job), PartState::staging)});
  launcher.drop_notices();
  EXPECT_EQ(plan(n1, attempt(job)).virtual_packages, first);
  EXPECT_EQ(plan(n2, attempt(job)).virtual_packages, first);
  launcher.restart();
  EXPECT_EQ(plan(n1, attempt(job)).virtual_packages, first);
  EXPECT_EQ(plan(n2, attempt(job)).virtual_packages, first);
  launcher.open(n1, {report(attempt(job), PartState::staging)});
  launcher.drop_notices();
  launcher.open(n2, {report(attempt(job), PartState::staging)});
  launcher.drop_notices();

  launcher.finished(n1, attempt(job), node_failure(Cause::start_failed, "the network is away"));
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
  launcher.finished(n2, attempt(job), node_failure(Cause::canceled, "the gang failed"));
  launcher.take<AwaitLogs>();
  launcher.drop_notices();
  ASSERT_EQ(launcher.view(job).attempts.size(), 2U);
  EXPECT_EQ(plan(n1, attempt(job, 2)).virtual_packages, Packages{"__glibc=2.31"});
  EXPECT_EQ(plan(n2, attempt(job, 2)).virtual_packages, Packages{"__glibc=2.31"});
}

TEST_F(CondaEnvironments, EachPlatformIsSolvedOnceForAllAttemptsThatHaveIt) {
  FakeNode n1 = launcher.join("n1", with_libraries("2.36", "")),
           n2 = launcher.join("n2", with_libraries("2.31", ""));
  const AttemptId both = attempt(launcher.submit(needing(zlib(), 2)));
  launcher.observe(n1, wants(both, "linux-64 __glibc=2.31"));
  launcher.drop_notices();
  launcher.observe(n2, wants(both, "linux-64 __glibc=2.31"));
  launcher.drop_notices();
  EXPECT_TRUE(plan(n1, both).solve);
  EXPECT_FALSE(plan(n2, both).solve);
  PartReport solved = wants(both, "linux-64 __glibc=2.31");
  solved.environment->step = Step::solved;
  solved.environment->lock = sha256("lock");
  launcher.observe(n1, solved);
  launcher.drop_notices();
  const std::vector<EnvironmentLock> locks{{"linux-64 __glibc=2.31", sha256("lock")}};
  EXPECT_EQ(plan(n1, both).locks, locks);
  EXPECT_EQ(plan(n2, both).locks, locks);
}

}  // namespace
}  // namespace lockstep::launcher
