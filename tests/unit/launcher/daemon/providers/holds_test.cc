#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/domain/why/nodes/providers.h"
#include "tests/unit/launcher/daemon/providers/provider_world.h"

namespace lockstep::launcher {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using World = ProviderWorld;

bool is_up(World& world, int times) {
  return world.run_until([&] { return world.count("ups", "up") >= times; });
}
bool is_down(World& world, int times) {
  return world.run_until([&] { return world.count("ups", "down") >= times; });
}

TEST(ProviderHolds, HoldEndsWithItsInput) {
  World world("hold");
  world.calls().perform(HoldMachines{"vms", {"vm1", "vm2"}});
  ASSERT_TRUE(is_up(world, 1));
  const auto request = nlohmann::json::parse(world.file("hold.request"), nullptr, false);
  EXPECT_EQ(request["machines"].size(), 2u);
  EXPECT_EQ(request["settings"]["hosts"][1]["password"], kPassword);
  // The line may be read after the file that it wrote.
  EXPECT_TRUE(world.run_until(
      [&] { return world.log().find("hold vm1 step tunnel\n") != std::string::npos; }));
  EXPECT_THAT(world.log(), Not(HasSubstr(kPassword)));
  EXPECT_EQ(world.calls().pids().size(), 1u);
  world.calls().perform(HoldMachines{"vms", {}});
  ASSERT_TRUE(is_down(world, 1));
  EXPECT_TRUE(world.run_until([&] { return world.calls().pids().empty(); }));
  EXPECT_THAT(world.still_there(), IsEmpty());
  EXPECT_THAT(world.events, IsEmpty());
}

TEST(ProviderHolds, NoticesAboutItsMachinesReachTheCore) {
  World world("hold-notices");
  world.calls().perform(HoldMachines{"vms", {"vm1", "vm2"}});
  // The line about vm9, which is no machine of this hold, comes after that about vm1.
  ASSERT_TRUE(world.run_until([&] { return world.log().find(" vm9 ") != std::string::npos; }));
  ASSERT_EQ(world.notices.size(), 1u);
  EXPECT_EQ(world.notices[0].target, "vms");
  EXPECT_EQ(world.notices[0].event.machine, "vm1");
  EXPECT_EQ(world.notices[0].event.left, seconds(90));
  EXPECT_EQ(world.notices[0].event.why, Why(ProviderSaid{"spot [password]"}));
}

TEST(ProviderHolds, TheSameMachinesAreHeldOnAndOthersAnew) {
  World world("hold");
  world.calls().perform(HoldMachines{"vms", {"vm1"}});
  ASSERT_TRUE(is_up(world, 1));
  const auto before = world.calls().pids();
  world.calls().perform(HoldMachines{"vms", {"vm1"}});
  world.run_until([] { return false; }, milliseconds(100));
  EXPECT_EQ(world.calls().pids(), before);
  world.calls().perform(HoldMachines{"vms", {"vm1", "vm2"}});
  ASSERT_TRUE(is_up(world, 2));
  EXPECT_EQ(world.count("ups", "down"), 1);
  world.spec.hosts[0].address = "elsewhere";
  world.calls().perform(HoldMachines{"vms", {"vm1", "vm2"}});
  ASSERT_TRUE(is_up(world, 3));
  EXPECT_THAT(world.file("hold.request"), HasSubstr("elsewhere"));
}

TEST(ProviderHolds, ChangedSettingsAreNoticed) {
  World world("hold");
  world.calls().perform(HoldMachines{"vms", {"vm1", "vm2"}});
  ASSERT_TRUE(is_up(world, 1));
  world.spec.hosts[0].port = 2200;
  ASSERT_TRUE(is_up(world, 2));
  world.password = "another one";
  ASSERT_TRUE(is_up(world, 3));
  EXPECT_THAT(world.file("hold.request"), AllOf(HasSubstr("2200"), HasSubstr("another one")));
  // Without its secret a machine is held on.
  world.password.reset();
  world.run_until([] { return false; }, milliseconds(300));
  EXPECT_EQ(world.count("ups", "down"), 2);
}

TEST(ProviderHolds, ALargeRequestIsWrittenWithoutWaiting) {
  World world("hold");
  std::vector<std::string> machines;
  for (int i = 0; i < 1'000; ++i) {
    SshHost host = world.spec.hosts[0];
    host.name = "host" + std::to_string(i);
    host.directory = "/" + std::string(500, 'd');
    machines.push_back(host.name);
    world.spec.hosts.push_back(std::move(host));
  }
  world.calls().perform(HoldMachines{"vms", machines});
  ASSERT_TRUE(is_up(world, 1));
  const auto request = nlohmann::json::parse(world.file("hold.request"), nullptr, false);
  EXPECT_EQ(request["machines"].size(), 1'000u);
}

TEST(ProviderHolds, OneThatEndsIsStartedAgainAfterAPause) {
  World world("hold-dies");
  const Instant begin = world.clock.now();
  world.calls().perform(HoldMachines{"vms", {"vm1"}});
  ASSERT_TRUE(is_up(world, 4));
  EXPECT_GE(world.clock.now() - begin, milliseconds(20 + 40 + 80));
  EXPECT_THAT(world.log(), AllOf(HasSubstr("hold - lost it\n"), HasSubstr("starts again in")));
  world.calls().perform(HoldMachines{"vms", {}});
  world.run_until([] { return false; }, milliseconds(300));
  EXPECT_LE(world.count("ups", "up"), 6);
  EXPECT_THAT(world.still_there(), IsEmpty());
}

TEST(ProviderHolds, OneThatStaysIsKilled) {
  World world("hold-stays");
  world.limits.hold.grace = milliseconds(100);
  world.calls().perform(HoldMachines{"vms", {"vm1"}});
  ASSERT_TRUE(is_up(world, 1));
  world.calls().perform(HoldMachines{"vms", {}});
  EXPECT_TRUE(world.run_until([&] { return world.still_there().empty(); }));
}

TEST(ProviderHolds, WithoutASecretTheOthersAreHeld) {
  World world("hold");
  world.password.reset();
  world.calls().perform(HoldMachines{"vms", {"vm1", "vm2"}});
  ASSERT_TRUE(is_up(world, 1));
  const auto request = nlohmann::json::parse(world.file("hold.request"), nullptr, false);
  EXPECT_EQ(request["machines"].size(), 1u);
  EXPECT_THAT(world.log(), HasSubstr("hold vm2 error in prepare (unauthenticated)"));
}

}  // namespace
}  // namespace lockstep::launcher
