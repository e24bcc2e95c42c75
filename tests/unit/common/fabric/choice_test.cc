// Who decides about a rank's network, and what follows when nodes differ.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/fabric/rdma_choice.h"
#include "common/fabric/settings.h"
#include "common/grammar/ip_network.h"
#include "tests/unit/common/fabric/machine.h"

namespace lockstep::runner {
namespace {

using test::Machine;
using testing::HasSubstr;

NetworkSetting named(const NetworkSettings& settings, const std::string& name) {
  for (const NetworkSetting& one : settings)
    if (one.name == name) return one;
  return {};
}

struct Choice : testing::Test {
  NodeFabric fabric;
  ProbeResult probe;
  bool has_probe = true;
  OperatorSettings operators;
  JobSpec spec;
  RankPlace place;

  Choice() {
    spec.resources.instance_count = 2;
    spec.distribution = {Distribution::Kind::mpi, 1};
    probe.chosen = {{0, "eth1", "10.1.0.4", std::chrono::microseconds(50), 10'000, 1'500},
                    {1, "ens5", "10.1.0.5", std::chrono::microseconds(50), 10'000, 1'500}};
    for (const char* name : {"eth0", "eth1", "eth2"}) {
      FabricInterface one;
      one.name = name;
      one.up = true;
      one.addresses = {{std::string("10.") + name[3] + ".0.4", 16}};
      fabric.interfaces.push_back(one);
    }
  }
  void add_port(const std::string& device, const std::string& layer, int rate,
                std::vector<FabricGid> gids = {}, std::vector<int> pkeys = {0xffff}) {
    FabricPort port;
    port.device = device;
    port.state = "ACTIVE";
    port.link_layer = layer;
    port.rate_gbps = rate;
    port.gids = std::move(gids);
    port.pkeys = std::move(pkeys);
    port.driver = "mlx5_core";
    fabric.ports.push_back(port);
    fabric.has_infiniband_devices = true;
  }
  NetworkSettings settings() const {
    return settings_for(fabric, has_probe ? &probe : nullptr, operators, spec, place);
  }
  NetworkSetting get(const std::string& name) const { return named(settings(), name); }
};

TEST_F(Choice, TheJobComesBeforeTheOperatorAndTheOperatorBeforeTheProbe) {
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").value, "eth1");
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").source, SettingSource::probe);
  operators.interface = OperatorInterface{{"eth9", "eth2"}, {}, "fabric.yml:3"};
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").value, "eth2");
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").source, SettingSource::operator_file);
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").reason, "fabric.yml:3 names eth2");
  operators.variables = {{"GLOO_SOCKET_IFNAME", "eth0", "fabric.yml:5"}};
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").value, "eth0");
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").reason, "fabric.yml:5");
  spec.environment_variables["GLOO_SOCKET_IFNAME"] = "eth1";
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").source, SettingSource::user);
  EXPECT_EQ(variables_of(settings()).count("GLOO_SOCKET_IFNAME"), 0u);
  EXPECT_EQ(variables_of(settings()).at("NCCL_SOCKET_IFNAME"), "=eth2");
}

TEST_F(Choice, TheOperatorsNetworkFindsTheInterfaceOfEachNode) {
  operators.interface = OperatorInterface{{}, {"10.2.0.0/16"}, "fabric.yml:3"};
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").value, "=eth2");
  EXPECT_THAT(get("NCCL_SOCKET_IFNAME").reason, HasSubstr("in which eth2 has 10.2.0.4"));
  operators.interface = OperatorInterface{{"eth9"}, {"192.168.0.0/24"}, "fabric.yml:3"};
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").value, "=eth1") << "the probe's";
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").warning,
            "fabric.yml:3 names eth9, 192.168.0.0/24, which this node does not have");
}

TEST_F(Choice, ANodeTakesItsOwnPartOfTheProbe) {
  place.node_rank = 1;
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").value, "=ens5");
}

TEST_F(Choice, WithoutAProbeTheRouteDecides) {
  has_probe = false;
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").name, "") << "libraries choose";
  place.route_interface = "eth0";
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").value, "=eth0");
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").source, SettingSource::fixed);
  place.route_interface = "lo";
  EXPECT_EQ(get("OMPI_MCA_btl_tcp_if_include").value, "lo");
  EXPECT_EQ(get("UCX_NET_DEVICES").name, "") << "UCX finds what is on one machine";
}

TEST_F(Choice, SaysWhichNodesAreNotReached) {
  spec.resources.instance_count = 4;
  probe.failures = {{0, 3, "10.1.0.4", "eth1", "10.1.0.7", 41'999, PathTrouble::timed_out, 0}};
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").reason,
            "eth1 (10.1.0.4) reaches 2 of 3 other nodes, in 0.05 ms, at 10.0 Gbit/s");
  probe.failures.clear();
  probe.cached = true;
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").reason,
            "eth1 (10.1.0.4) reaches all 3 other nodes, in 0.05 ms, at 10.0 Gbit/s, as an earlier "
            "probe found");
}

TEST_F(Choice, OfManyNodesOnlyThoseThatWereTriedAreReached) {
  spec.resources.instance_count = 100;
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").reason,
            "eth1 (10.1.0.4) reaches those of the 99 other nodes that it tried, in 0.05 ms, at "
            "10.0 Gbit/s");
  probe.failures = {{0, 3, "10.1.0.4", "eth1", "10.1.0.7", 41'999, PathTrouble::timed_out, 0}};
  EXPECT_EQ(get("GLOO_SOCKET_IFNAME").reason,
            "eth1 (10.1.0.4) reaches all but 1 of the nodes that it tried, in 0.05 ms, at 10.0 "
            "Gbit/s");
}

TEST_F(Choice, AJobOfOneNodeGetsOnlyWhatItsMpiStartsFasterWith) {
  spec.resources.instance_count = 1;
  std::vector<std::string> names;
  for (const NetworkSetting& one : settings()) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"OMPI_MCA_btl", "OMPI_MCA_osc", "OMPI_MCA_pml"}));
  spec.distribution.kind = Distribution::Kind::pytorch;
  EXPECT_TRUE(settings().empty());
}

TEST_F(Choice, OpenMpiGetsNoListBesideTheJobsOpposite) {
  spec.environment_variables["OMPI_MCA_btl_tcp_if_exclude"] = "docker0";
  EXPECT_EQ(get("OMPI_MCA_btl_tcp_if_include").name, "");
  EXPECT_EQ(get("OMPI_MCA_oob_tcp_if_include").value, "eth1");
}

TEST_F(Choice, ARankOfAnUnknownFabricGetsItsInterfaceAlone) {
  fabric = {};
  has_probe = false;
  place.route_interface = "eth0";
  EXPECT_EQ(get("NCCL_SOCKET_IFNAME").value, "=eth0");
  EXPECT_EQ(get("UCX_NET_DEVICES").name, "");
  EXPECT_EQ(get("OMPI_MCA_pml").value, "ob1");
  place.has_rdma_device = true;
  EXPECT_EQ(get("OMPI_MCA_pml").name, "") << "Open MPI finds out itself, as before";
}

// ---- RDMA --------------------------------------------------------------------------------------

constexpr char kLinkLocal[] = "fe80:0000:0000:0000:0015:5dff:fe33:ff0e";

TEST_F(Choice, NodesThatShareNoFabricUseTcpAllOfThem) {
  add_port("mlx5_0", "InfiniBand", 200, {{0, kLinkLocal, "IB/RoCE v1", ""}});
  EXPECT_EQ(get("NCCL_IB_HCA").value, "=mlx5_0:1") << "it is not known what others have";
  place.gang_fabric = GangFabric{};
  EXPECT_EQ(get("NCCL_IB_HCA").name, "");
  EXPECT_EQ(get("NCCL_IB_DISABLE").value, "1");
  EXPECT_EQ(get("NCCL_IB_DISABLE").reason, "the nodes of the job share no RDMA fabric");
  EXPECT_EQ(get("OMPI_MCA_pml").value, "ob1");
  EXPECT_EQ(get("UCX_TLS").value, "tcp,sm,self");
  EXPECT_EQ(get("UCX_NET_DEVICES").value, "eth1");
  place.gang_fabric = GangFabric{"InfiniBand", "fe80:0000:0000:0000", 0x7fff};
  EXPECT_EQ(get("NCCL_IB_HCA").value, "=mlx5_0:1");
  place.gang_fabric->subnet = "fe80:0000:0000:0001";
  EXPECT_EQ(get("NCCL_IB_HCA").name, "");
  EXPECT_THAT(get("NCCL_IB_DISABLE").reason, HasSubstr("mlx5_0:1"));
}

TEST_F(Choice, WithoutDeviceFilesThereIsNoRdmaAndNothingToTurnOff) {
  add_port("mlx5_0", "InfiniBand", 200);
  fabric.has_infiniband_devices = false;
  EXPECT_EQ(get("NCCL_IB_DISABLE").name, "");
  EXPECT_EQ(get("UCX_TLS").reason,
            "there is no /dev/infiniband/uverbs*, without which no program can use RDMA");
}

TEST_F(Choice, InfiniBandComesBeforeRoceAndTheFastestBeforeOthers) {
  add_port("mlx5_0", "Ethernet", 400,
           {{3, "0000:0000:0000:0000:0000:ffff:0a01:0004", "RoCE v2", ""}});
  add_port("mlx5_1", "InfiniBand", 100);
  add_port("mlx5_2", "InfiniBand", 200);
  EXPECT_EQ(get("NCCL_IB_HCA").value, "=mlx5_2:1");
  EXPECT_EQ(get("NCCL_IB_GID_INDEX").name, "");
}

TEST_F(Choice, TheOperatorChoosesPortsOrNone) {
  add_port("mlx5_1", "InfiniBand", 100);
  add_port("mlx5_2", "InfiniBand", 200);
  operators.rdma = OperatorRdma{{"mlx5_1"}, "fabric.yml:3"};
  EXPECT_EQ(get("NCCL_IB_HCA").value, "=mlx5_1:1");
  EXPECT_EQ(get("NCCL_IB_HCA").source, SettingSource::operator_file);
  operators.rdma->ports = {"mlx5_2:1", "mlx5_1:1"};
  EXPECT_EQ(get("UCX_NET_DEVICES").value, "mlx5_1:1,mlx5_2:1");
  operators.rdma->ports.clear();
  EXPECT_EQ(get("NCCL_IB_DISABLE").value, "1");
  EXPECT_EQ(get("NCCL_IB_DISABLE").reason, "fabric.yml:3 allows no RDMA");
  EXPECT_EQ(get("NCCL_IB_DISABLE").source, SettingSource::operator_file);
}

TEST_F(Choice, RocePortsWhoseGidsDifferGetTheKindOfGidAndNoIndex) {
  add_port("mlx5_0", "Ethernet", 100,
           {{3, "0000:0000:0000:0000:0000:ffff:0a01:0004", "RoCE v2", ""}});
  add_port("mlx5_1", "Ethernet", 100,
           {{5, "0000:0000:0000:0000:0000:ffff:0a02:0004", "RoCE v2", ""}});
  EXPECT_EQ(get("NCCL_IB_GID_INDEX").name, "");
  EXPECT_EQ(get("NCCL_IB_ROCE_VERSION_NUM").value, "2");
  EXPECT_EQ(get("NCCL_IB_ADDR_FAMILY").value, "AF_INET");
}

TEST_F(Choice, AGidOfIpv4ComesBeforeOneOfIpv6) {
  add_port("mlx5_0", "Ethernet", 100,
           {{0, kLinkLocal, "RoCE v2", ""},
            {2, "fd00:0000:0000:0000:0000:0000:0000:0004", "RoCE v2", ""},
            {3, "0000:0000:0000:0000:0000:ffff:0a01:0004", "IB/RoCE v1", ""},
            {4, "0000:0000:0000:0000:0000:ffff:0a01:0004", "RoCE v2", ""}});
  EXPECT_EQ(get("NCCL_IB_GID_INDEX").value, "4");
  fabric.ports[0].gids.pop_back();
  EXPECT_EQ(get("NCCL_IB_GID_INDEX").value, "2");
}

TEST_F(Choice, StorageCardsBesideNoGpuAreLeftOut) {
  for (const auto& [device, pci] : {std::pair("mlx5_0", "0000:00:01.0/0000:01:00.0"),
                                    std::pair("mlx5_1", "0000:40:01.0/0000:41:00.0")}) {
    add_port(device, "InfiniBand", 200);
    fabric.ports.back().pci = pci;
  }
  fabric.gpus = {{0, "0000:00:01.0/0000:02:00.0", -1, {}, false, {}}};
  place.gpus = {0};
  EXPECT_EQ(get("NCCL_IB_HCA").value, "=mlx5_0:1");
  EXPECT_THAT(get("NCCL_IB_HCA").reason, HasSubstr("nearest to the job's GPUs"));
  place.gpus.clear();
  EXPECT_EQ(get("NCCL_IB_HCA").value, "=mlx5_0:1,mlx5_1:1") << "without GPUs all count";
}

TEST_F(Choice, FewerRanksThanGpusShareThePortsOfTheirGpus) {
  fabric = Machine("dgx-a100").fabric();
  spec.distribution = {Distribution::Kind::pytorch, 2};
  place.gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(get("UCX_NET_DEVICES").value, "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1");
  place.local_rank = 1;
  EXPECT_EQ(get("UCX_NET_DEVICES").value, "mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1");
  spec.resources.isolate_gpus = true;
  EXPECT_EQ(get("UCX_NET_DEVICES").value, "mlx5_1:1");
  spec.distribution.processes_per_node = 16;
  place.local_rank = 9;
  EXPECT_EQ(get("UCX_NET_DEVICES").value,
            "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_6:1,mlx5_7:1,mlx5_8:1,mlx5_9:1")
      << "a rank without a GPU takes all";
}

// ---- bounds ------------------------------------------------------------------------------------

TEST_F(Choice, ManyVariablesOfAJobPushNothingOut) {
  for (int i = 0; i < 500; ++i)
    spec.environment_variables["NCCL_A" + std::to_string(i)] = std::string(5'000, 'x');
  const NetworkSettings all = settings();
  EXPECT_EQ(all.size(), kMaxNetworkSettings);
  EXPECT_EQ(named(all, "UCX_NET_DEVICES").value, "eth1");
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const NetworkSetting& one : all) EXPECT_LE(one.value.size(), kMaxSettingTextBytes);
}

TEST(Differences, NameTheRanksThatHaveAnotherValue) {
  const NetworkSetting a{"X", "1", SettingSource::probe, "", ""}, b{"X", "2", {}, "", ""};
  EXPECT_TRUE(differences({}).empty());
  EXPECT_TRUE(differences({{a}, {a}}).empty());
  const SettingOverrides found = differences({{a}, {b}, {a}, {b}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].setting, b);
  EXPECT_EQ(found[0].local_ranks, (std::vector<int>{1, 3}));
  std::vector<NetworkSettings> many(2);
  for (int i = 0; i < 1'000; ++i)
    many[1].push_back({std::to_string(i), "", SettingSource::probe, "", ""});
  EXPECT_EQ(differences(many).size(), kMaxSettingOverrides);
}

TEST(IpNetworks, HaveTheirAddresses) {
  const auto network = parse_ip_network("10.1.0.0/16");
  ASSERT_TRUE(network);
  EXPECT_TRUE(has_address(*network, "10.1.255.4"));
  EXPECT_FALSE(has_address(*network, "10.2.0.4"));
  EXPECT_FALSE(has_address(*network, "fd00::1"));
  EXPECT_FALSE(has_address(*network, "eth0"));
  EXPECT_TRUE(has_address(*parse_ip_network("fd00::/8"), "fd12::1"));
  EXPECT_TRUE(has_address(*parse_ip_network("0.0.0.0/0"), "1.2.3.4"));
  EXPECT_TRUE(has_address(*parse_ip_network("10.0.0.4"), "10.0.0.4"));
  for (const char* bad : {"", "10.1.0.0/", "10.1.0.0/33", "10.1.0.1/16", "10.1.0.0/-1", "x/8",
                          "10.1.0.0/8x", "fd00::/129", "10.1/16"})
    EXPECT_FALSE(parse_ip_network(bad)) << bad;
  EXPECT_TRUE(is_link_local("fe80::1"));
  EXPECT_TRUE(is_link_local("169.254.1.2"));
  EXPECT_FALSE(is_link_local("fec0::1"));
  EXPECT_FALSE(is_link_local("10.0.0.1"));
}

}  // namespace
}  // namespace lockstep::runner
