// The network settings of ranks: what the launcher keeps of the nodes' reports, and the fabric that
// it tells a gang.

#include <algorithm>

#include "common/domain/why/jobs/settings.h"
#include "launcher/core/placement/rdma_fabric.h"
#include "tests/unit/launcher/core/launcher_fixture.h"
#include "tests/unit/support/print_why.h"

namespace lockstep::launcher {
namespace {

NetworkSetting setting(const std::string& name, const std::string& value,
                       SettingSource source = SettingSource::probe) {
  return {name, value, source, "because", ""};
}

struct RankSettings : ::testing::Test {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1", inventory(8));
  FakeNode n2 = launcher.join("n2", inventory(8));
  JobId job;
  AttemptId first;

  PartReport running(const std::string& interface) {
    PartReport said = report(first, PartState::running);
    said.settings = {setting("GLOO_SOCKET_IFNAME", interface),
                     setting("UCX_NET_DEVICES", "mlx5_0:1")};
    said.other_settings = {{setting("UCX_NET_DEVICES", "mlx5_1:1"), {1, 3}}};
    return said;
  }
  // Two nodes with four ranks each.
  void run() {
    job = launcher.submit(job_spec("gang", 2, 4));
    first = attempt(job);
    launcher.prepared(n1, first);
    launcher.prepared(n2, first);
    launcher.observe(n1, running("eth0"));
    launcher.drop_notices();
    launcher.observe(n2, running("eth1"));
    launcher.drop_notices();
  }
  SettingsView of(int rank) { return launcher.core->settings_of(job, rank).value(); }
  static std::string value(const SettingsView& view, const std::string& name) {
    const auto found = std::find_if(view.settings.begin(), view.settings.end(),
                                    [&](const auto& one) { return one.name == name; });
    return found == view.settings.end() ? "" : found->value;
  }
};

TEST_F(RankSettings, AreThoseOfTheNodeWithTheRanksOwn) {
  run();
  EXPECT_EQ(of(0).node_name, "n1");
  EXPECT_EQ(value(of(0), "GLOO_SOCKET_IFNAME"), "eth0");
  EXPECT_EQ(value(of(0), "UCX_NET_DEVICES"), "mlx5_0:1");
  EXPECT_EQ(value(of(7), "GLOO_SOCKET_IFNAME"), "eth1");
  EXPECT_EQ(value(of(7), "UCX_NET_DEVICES"), "mlx5_1:1");
}

TEST_F(RankSettings, NameTheRanksThatHaveOtherValues) {
  run();
  const SettingsView view = of(0);
  ASSERT_EQ(view.elsewhere.size(), 2U);
  EXPECT_EQ(view.elsewhere[0].setting.value, "eth1");
  EXPECT_EQ(view.elsewhere[0].ranks, "4-7");
  EXPECT_EQ(view.elsewhere[1].setting.value, "mlx5_1:1");
  EXPECT_EQ(view.elsewhere[1].ranks, "1, 3, 5, 7");
  EXPECT_FALSE(view.more);
}

TEST_F(RankSettings, OutliveTheLauncherAndTheJob) {
  run();
  launcher.restart();
  launcher.drop_notices();
  EXPECT_EQ(value(of(5), "GLOO_SOCKET_IFNAME"), "eth1");
  PartReport end = running("eth0");
  end.state = PartState::finished;
  end.exit = node_exit({rank_exit(0), rank_exit(1), rank_exit(2), rank_exit(3)});
  launcher.open(n1, {running("eth0")});
  launcher.drop_notices();
  launcher.open(n2, {running("eth1")});
  launcher.drop_notices();
  launcher.observe(n1, end);
  launcher.drop_notices();
  const auto changes = launcher.facts<PartChanged>();
  EXPECT_TRUE(changes.back().report.settings.empty()) << "a fact has said it";
  EXPECT_EQ(value(of(0), "GLOO_SOCKET_IFNAME"), "eth0");
}

TEST_F(RankSettings, SayWhyThereAreNone) {
  job = launcher.submit(job_spec("gang", 2, 4));
  first = attempt(job);
  EXPECT_EQ(of(0).why_absent, Why(SettingsBeforeStart{}));
  EXPECT_EQ(of(8).why_absent, Why(SettingsOfNoRank{8}));
  EXPECT_FALSE(launcher.core->settings_of(JobId("ghost"), 0));
}

// A node may say what it likes: neither a rank of another node nor a flood is taken from it.
TEST_F(RankSettings, OfAHostileNodeStayItsOwnAndAreBounded) {
  run();
  PartReport bad = running("eth0");
  bad.other_settings.clear();
  for (int i = 0; i < static_cast<int>(kMaxSettingOverrides); ++i)
    bad.other_settings.push_back({setting("NCCL_" + std::to_string(i), "x"), {0, 900}});
  launcher.observe(n1, bad);
  launcher.drop_notices();
  const SettingsView view = of(7);
  EXPECT_EQ(view.elsewhere.size(), kMaxElsewhere);
  EXPECT_TRUE(view.more);
  for (const auto& other : view.elsewhere)
    EXPECT_EQ(other.ranks.find("900"), std::string::npos) << other.ranks;
  EXPECT_EQ(value(view, "GLOO_SOCKET_IFNAME"), "eth1");
}

// ---- the fabric of a gang
// ------------------------------------------------------------------------

Inventory with_ports(std::vector<RdmaPort> ports) {
  Inventory has;
  has.rdma_ports = std::move(ports);
  return has;
}
RdmaPort infiniband(std::vector<int> pkeys, const std::string& subnet = "fe80:0000:0000:0000") {
  return {"mlx5_0", 1, "ACTIVE", 200, "InfiniBand", subnet, std::move(pkeys)};
}
RdmaPort roce() { return {"mlx5_1", 1, "ACTIVE", 100, "Ethernet", "fe80:0000:0000:0000", {}}; }

TEST(GangFabricTest, IsThePartitionInWhichAllAreFullMembers) {
  const Inventory a = with_ports({infiniband({0x8001, 0x7fff})});
  const Inventory b = with_ports({infiniband({0x7fff, 0x8002, 0x8001})});
  EXPECT_EQ(shared_fabric({&a, &b}), (GangFabric{"InfiniBand", "fe80:0000:0000:0000", 1}));
  const Inventory c = with_ports({infiniband({0x8002})});
  EXPECT_FALSE(shared_fabric({&a, &b, &c}).shared());
}

TEST(GangFabricTest, PrefersInfiniBandAndTheDefaultPartition) {
  const Inventory both = with_ports({roce(), infiniband({0x8001, 0xffff})});
  EXPECT_EQ(shared_fabric({&both, &both}),
            (GangFabric{"InfiniBand", "fe80:0000:0000:0000", 0x7fff}));
  const Inventory only_roce = with_ports({roce()});
  EXPECT_EQ(shared_fabric({&both, &only_roce}), (GangFabric{"Ethernet", "", -1}));
}

TEST(GangFabricTest, IsNoneWhereANodeCannotUseItsPort) {
  Inventory a = with_ports({infiniband({0xffff})});
  EXPECT_TRUE(shared_fabric({&a}).shared());
  a.fabric.emplace();  // without /dev/infiniband
  EXPECT_FALSE(shared_fabric({&a}).shared());
  a.fabric->has_infiniband_devices = true;
  EXPECT_TRUE(shared_fabric({&a}).shared());
  Inventory other = with_ports({infiniband({0xffff}, "fe80:0000:0000:0001")});
  EXPECT_FALSE(shared_fabric({&a, &other}).shared());
  other.rdma_ports[0].state = "DOWN";
  EXPECT_FALSE(shared_fabric({&other}).shared());
  EXPECT_FALSE(shared_fabric({}).shared());
}

}  // namespace
}  // namespace lockstep::launcher
