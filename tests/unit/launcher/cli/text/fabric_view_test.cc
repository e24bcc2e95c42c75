// A node's fabric and the settings of a rank, as people read them.

#include "launcher/cli/text/fabric_view.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep::cli {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

NodeView node() {
  NodeView node;
  node.name = "n1";
  NodeFabric& fabric = node.inventory.fabric.emplace();
  FabricInterface eth0;
  eth0.name = "eth0";
  eth0.addresses = {{"10.0.0.4", 24}};
  eth0.mtu = 1'500;
  eth0.speed_mbps = 50'000;
  eth0.driver = "hv_netvsc";
  eth0.up = eth0.default_route = true;
  eth0.numa_node = 0;
  FabricInterface docker;
  docker.name = "docker0";
  docker.addresses = {{"172.17.0.1", 16}};
  docker.mtu = 1'500;
  docker.driver = "bridge";
  docker.is_virtual = true;
  fabric.interfaces = {docker, eth0};
  FabricPort port;
  port.device = "mlx5_0";
  port.state = "ACTIVE";
  port.link_layer = "InfiniBand";
  port.rate_gbps = 200;
  port.lid = 12;
  port.driver = "mlx5_core";
  port.firmware = "20.31.1014";
  port.numa_node = 0;
  port.gids = {{0, "fe80:0000:0000:0000:0015:5dff:fe33:ff0e", "IB/RoCE v1", "ib0"}};
  port.pkeys = {0x8001, 0x7fff};
  fabric.ports = {port};
  fabric.has_infiniband_devices = true;
  fabric.numa = {{0, {10, 21}}, {1, {21, 10}}};
  fabric.ucx = "1.13.1";
  return node;
}

TEST(FabricText, SaysWhereEachDeviceIsAndWhatItCan) {
  const std::string text = fabric_text(node());
  EXPECT_TRUE(has_line(text,
                       "interface:    eth0 10.0.0.4/24: up, MTU 1500, 50 Gbit/s, hv_netvsc, "
                       "default route, NUMA node 0"))
      << text;
  EXPECT_TRUE(
      has_line(text, "interface:    docker0 172.17.0.1/16: down, MTU 1500, virtual, bridge"))
      << text;
  EXPECT_TRUE(has_line(text,
                       "rdma:         mlx5_0:1 ACTIVE, InfiniBand, 200 Gbit/s, LID 12, "
                       "mlx5_core, firmware 20.31.1014, NUMA node 0"))
      << text;
  EXPECT_TRUE(has_line(text,
                       "                GID 0 fe80:0000:0000:0000:0015:5dff:fe33:ff0e, "
                       "IB/RoCE v1, ib0"))
      << text;
  EXPECT_TRUE(has_line(text, "                partitions 0x8001, 0x7fff (limited)")) << text;
  EXPECT_TRUE(has_line(text, "numa:         0: distances 10 21")) << text;
  EXPECT_TRUE(has_line(text, "ucx:          1.13.1")) << text;
  EXPECT_TRUE(has_line(text, "memlock:      unlimited")) << text;
}

TEST(FabricText, SaysWhyNothingIsKnown) {
  NodeView old = node();
  old.inventory.fabric.reset();
  EXPECT_NE(fabric_text(old).find("update the agent"), std::string::npos);
}

TEST(SettingsText, HasValueSourceReasonAndWarningAndWhereOthersDiffer) {
  SettingsView view;
  view.rank = 3;
  view.node_name = "n1";
  view.settings = {
      {"GLOO_SOCKET_IFNAME", "eth1", SettingSource::probe, "eth1 reaches the other node", ""},
      {"NCCL_IB_DISABLE", "1", SettingSource::user, "set by the job or its environment",
       "NCCL uses no RDMA, but the job has lockstep.rdma: required"}};
  view.elsewhere = {
      {{"GLOO_SOCKET_IFNAME", "ens5", SettingSource::probe, "ens5 reaches the other node", ""},
       "4-7"}};
  EXPECT_EQ(settings_text("gray_pig", view),
            "gray_pig: network settings of rank 3 on n1\n"
            "  GLOO_SOCKET_IFNAME  eth1 (probe): eth1 reaches the other node\n"
            "  NCCL_IB_DISABLE     1 (user): set by the job or its environment\n"
            "                      warning: NCCL uses no RDMA, but the job has lockstep.rdma: "
            "required\n"
            "  ranks 4-7: GLOO_SOCKET_IFNAME=ens5 (probe): ens5 reaches the other node\n");
}

TEST(SettingsText, SaysWhyThereAreNone) {
  SettingsView view;
  view.absent = "its ranks have not started: settings are made then";
  EXPECT_EQ(settings_text("gray_pig", view),
            "gray_pig: no network settings of rank 0: its ranks have not started: settings are "
            "made then\n");
}

}  // namespace
}  // namespace lockstep::cli
