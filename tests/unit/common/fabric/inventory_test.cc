// What the agent finds on machines (machines/*.txt).

#include "agent/inventory/fabric.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "agent/inventory/fabric_rdma.h"
#include "tests/unit/common/fabric/machine.h"

namespace lockstep::agent {
namespace {

using test::Machine;

std::vector<std::string> names_of(const NodeFabric& fabric) {
  std::vector<std::string> names;
  for (const FabricInterface& one : fabric.interfaces) names.push_back(one.name);
  return names;
}

FabricInterface named(const NodeFabric& fabric, const std::string& name) {
  for (const FabricInterface& one : fabric.interfaces)
    if (one.name == name) return one;
  ADD_FAILURE() << "no interface " << name;
  return {};
}

TEST(FabricInventory, OfAPlainMachineHasItsInterfaceAndNoContainersLink) {
  const NodeFabric fabric = Machine("plain-vm").fabric();
  EXPECT_EQ(names_of(fabric), (std::vector<std::string>{"docker0", "eth0", "lo"}));
  const FabricInterface eth0 = named(fabric, "eth0");
  EXPECT_EQ(eth0.addresses,
            (std::vector<FabricAddress>{{"10.0.0.8", 24}, {"fe80::5054:ff:fe12:3456", 64}}));
  EXPECT_EQ(eth0.driver, "virtio_net");
  EXPECT_EQ(eth0.pci, "0000:00:03.0");
  EXPECT_EQ(eth0.mtu, 1'500);
  EXPECT_EQ(eth0.speed_mbps, -1);
  EXPECT_TRUE(eth0.up && eth0.default_route && !eth0.is_virtual);
  const FabricInterface docker = named(fabric, "docker0");
  EXPECT_TRUE(docker.is_virtual);
  EXPECT_EQ(docker.driver, "bridge");
  EXPECT_TRUE(named(fabric, "lo").loopback);
  EXPECT_TRUE(fabric.ports.empty() && fabric.gpus.empty());
  EXPECT_FALSE(fabric.has_infiniband_devices);
  EXPECT_TRUE(fabric.virtual_machine);
  EXPECT_EQ(fabric.memlock_bytes, 67'108'864);
}

TEST(FabricInventory, OfALaptop) {
  const NodeFabric fabric = Machine("laptop").fabric();
  EXPECT_EQ(names_of(fabric),
            (std::vector<std::string>{"docker0", "enp0s31f6", "lo", "tun0", "wlp0s20f3"}));
  EXPECT_TRUE(named(fabric, "wlp0s20f3").default_route);
  EXPECT_FALSE(named(fabric, "enp0s31f6").up);
  EXPECT_TRUE(named(fabric, "tun0").is_virtual);
  EXPECT_FALSE(fabric.virtual_machine);
}

TEST(FabricInventory, OfAnNdv4HasEachPortWithPartitionsAndPlace) {
  const NodeFabric fabric = Machine("azure-ndv4").fabric();
  ASSERT_EQ(fabric.ports.size(), 9u);
  EXPECT_EQ(fabric.ports[0].device, "mlx5_an0");
  EXPECT_EQ(fabric.ports[0].link_layer, "Ethernet");
  const FabricPort& port = fabric.ports[3];
  EXPECT_EQ(port.device, "mlx5_ib2");
  EXPECT_TRUE(port.active());
  EXPECT_EQ(port.rate_gbps, 200);
  EXPECT_EQ(port.lid, 0x102);
  EXPECT_EQ(port.pkeys, (std::vector<int>{0x8010, 0x7fff}));
  EXPECT_EQ(port.firmware, "20.31.1014");
  EXPECT_EQ(port.netdev, "ib2");
  EXPECT_EQ(port.pci, "0103:00:00.0");
  EXPECT_EQ(port.numa_node, 1);
  EXPECT_EQ(port.driver, "mlx5_core");
  ASSERT_EQ(port.gids.size(), 1u);
  EXPECT_EQ(port.gids[0].index, 0);
  ASSERT_EQ(fabric.gpus.size(), 8u);
  EXPECT_EQ(fabric.gpus[4].pci, "000b:00:00.0");
  EXPECT_EQ(fabric.gpus[4].numa_node, 2);
  EXPECT_EQ(fabric.numa[1].distances, (std::vector<int>{12, 10, 12, 12}));
  EXPECT_EQ(fabric.nccl, "2.21.5");
  EXPECT_EQ(fabric.ucx, "1.16.0");
  EXPECT_EQ(fabric.verbs, "44.0");
  EXPECT_EQ(fabric.nvidia_driver, "535.161.08");
  EXPECT_TRUE(fabric.gpu_direct && fabric.has_infiniband_devices && fabric.virtual_machine);
  const FabricInterface slave = named(fabric, "enP37008s1");
  EXPECT_TRUE(slave.addresses.empty());
  EXPECT_FALSE(slave.is_virtual);
}

TEST(FabricInventory, OfADgxHasPathsThroughItsSwitchesAndPortsByNumber) {
  const NodeFabric fabric = Machine("dgx-a100").fabric();
  ASSERT_EQ(fabric.ports.size(), 12u);
  EXPECT_EQ(fabric.ports[2].device, "mlx5_2");
  EXPECT_EQ(fabric.ports[10].device, "mlx5_10") << "behind mlx5_9";
  EXPECT_FALSE(fabric.ports[11].active());
  EXPECT_EQ(fabric.ports[0].pci, "0000:00:01.1/0000:01:00.0/0000:02:04.0/0000:0c:00.0");
  EXPECT_EQ(fabric.gpus[0].pci, "0000:00:01.1/0000:01:00.0/0000:02:00.0/0000:07:00.0");
  EXPECT_EQ(fabric.ports[4].gids.size(), 4u);
  EXPECT_EQ(fabric.ports[4].gids[3].type, "RoCE v2");
  EXPECT_EQ(fabric.ports[4].gids[3].netdev, "enp97s0f0");
  EXPECT_FALSE(fabric.virtual_machine);
}

TEST(FabricInventory, OfSoftRoceHasNoDeviceAndItsParentsName) {
  const NodeFabric fabric = Machine("soft-roce").fabric();
  ASSERT_EQ(fabric.ports.size(), 1u);
  const FabricPort& port = fabric.ports.front();
  EXPECT_EQ(port.netdev, "eth0");
  EXPECT_EQ(port.driver, "");
  EXPECT_EQ(port.pci, "");
  EXPECT_EQ(port.rate_gbps, 2);
  EXPECT_EQ(fabric.ucx, "unknown") << "its file says no version, and no package is installed";
}

TEST(FabricInventory, KnowsTheTrafficClassThatAnAdministratorSet) {
  const NodeFabric fabric = Machine("roce-cluster").fabric();
  EXPECT_EQ(fabric.ports[0].traffic_class, 106);
  EXPECT_EQ(Machine("azure-ndv4").fabric().ports[1].traffic_class, -1);
}

// Below a mount of another network namespace's /sys a link of the same name is another one.
TEST(FabricInventory, TakesNothingOfAnotherNamespace) {
  const Machine machine("plain-vm");
  std::vector<NetworkLink> links = machine.links();
  for (NetworkLink& link : links) link.index += 100;
  links.push_back({200, "veth0", "veth", 1'450, 0, 0, true, false, true, {{"10.9.0.2", 24}}});
  const NodeFabric fabric = read_fabric(machine.places(), links);
  EXPECT_EQ(named(fabric, "eth0").driver, "") << "not that of the other eth0";
  EXPECT_TRUE(named(fabric, "eth0").is_virtual);
  const FabricInterface veth = named(fabric, "veth0");
  EXPECT_TRUE(veth.is_virtual && veth.default_route);
  EXPECT_EQ(veth.mtu, 1'450);
}

TEST(FabricInventory, ABondAndAVlanAreAsRealAsTheirPorts) {
  const Machine machine("plain-vm");
  std::vector<NetworkLink> links = machine.links();
  const auto eth0 = std::find_if(links.begin(), links.end(),
                                 [](const NetworkLink& link) { return link.name == "eth0"; });
  ASSERT_NE(eth0, links.end());
  eth0->master = 50;
  eth0->addresses.clear();
  const int below = eth0->index;
  links.push_back({50, "bond0", "bond", 1'500, 0, 0, true, false, true, {{"10.0.0.8", 24}}});
  links.push_back({51, "eth0.7", "vlan", 1'500, below, 0, true, false, false, {{"10.7.0.8", 24}}});
  links.push_back({52, "dummy0", "dummy", 1'500, 0, 0, true, false, false, {{"10.8.0.8", 24}}});
  const NodeFabric fabric = read_fabric(machine.places(), links);
  EXPECT_FALSE(named(fabric, "bond0").is_virtual);
  EXPECT_FALSE(named(fabric, "eth0.7").is_virtual);
  EXPECT_TRUE(named(fabric, "dummy0").is_virtual);
}

TEST(FabricInventory, OfManyLinksKeepsHardware) {
  const Machine machine("plain-vm");
  std::vector<NetworkLink> links = machine.links();
  for (int i = 0; i < 200; ++i)
    links.push_back({300 + i,
                     "a" + std::to_string(i),
                     "dummy",
                     1'500,
                     0,
                     0,
                     true,
                     false,
                     false,
                     {{"10.8.0." + std::to_string(i), 32}}});
  const NodeFabric fabric = read_fabric(machine.places(), links);
  EXPECT_EQ(fabric.interfaces.size(), kMaxFabricInterfaces);
  EXPECT_EQ(named(fabric, "eth0").driver, "virtio_net");
}

// Every file of these trees may be missing, empty or hostile.
TEST(FabricInventory, OfBrokenTreesIsOnlySmaller) {
  const test::TempDir root;
  root.file("sys/class/infiniband/x/ports/1/state", "");
  root.file("sys/class/infiniband/x/ports/1/rate", "fast");
  root.file("sys/class/infiniband/x/ports/1/lid", std::string(100'000, '9'));
  root.file("sys/class/infiniband/x/ports/1/gids/0", "not a gid");
  root.file("sys/class/infiniband/x/ports/1/gids/99999999999999999999", "x");
  root.file("sys/class/infiniband/x/ports/1/pkeys/0", "0xfffffff");
  root.file("sys/class/infiniband/x/ports/999/state", "4: ACTIVE");
  root.file("sys/class/infiniband/y", "a file");
  root.file("sys/devices/system/node/node0/distance", "10 x 12");
  root.file("sys/devices/system/node/nodes/distance", "10");
  const FabricPlaces places{root / "sys", root / "proc", root / "dev", root.path()};
  const NodeFabric fabric = read_fabric(places, {});
  ASSERT_EQ(fabric.ports.size(), 1u);
  const FabricPort& port = fabric.ports.front();
  EXPECT_FALSE(port.active());
  EXPECT_EQ(port.rate_gbps, 0);
  EXPECT_TRUE(port.gids.empty() && port.pkeys.empty());
  ASSERT_EQ(fabric.numa.size(), 1u);
  EXPECT_EQ(fabric.numa[0].distances, std::vector<int>{10});
}

TEST(FabricInventory, OfThisMachineHasItsLoopback) {
  const auto links = read_links();
  ASSERT_TRUE(links) << links.error().message;
  const NodeFabric fabric = probe_fabric({});
  const FabricInterface lo = named(fabric, "lo");
  EXPECT_TRUE(lo.loopback);
  EXPECT_NE(std::find(lo.addresses.begin(), lo.addresses.end(), (FabricAddress{"127.0.0.1", 8})),
            lo.addresses.end());
  EXPECT_GT(lo.mtu, 1'000);
  EXPECT_EQ(with_network_now(fabric), fabric) << "nothing changed meanwhile";
}

}  // namespace
}  // namespace lockstep::agent
