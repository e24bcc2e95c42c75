// A node's fabric, a probe's result and settings on the wire: nothing is lost, and neither a maker
// nor a hostile sender gets past the limits of fabric.h.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "common/wire/runners/runner_codec.h"
#include "common/wire/targets/fabric_codec.h"
#include "proto/runner.pb.h"

namespace lockstep {
namespace {

template <typename Wire, typename Domain>
Domain there_and_back(const Domain& sent) {
  Wire wire;
  pb::to_wire(sent, &wire);
  Domain received;
  const Status read = pb::from_wire(wire, &received);
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return received;
}

TEST(FabricCodec, ALongListLosesItsEndAndNotTheMessage) {
  NodeFabric fabric;
  fabric.interfaces.resize(kMaxFabricInterfaces + 1);
  fabric.interfaces[0].name = std::string(kMaxFabricTextBytes + 1, 'x');
  fabric.interfaces[0].addresses.resize(kMaxFabricAddresses + 1);
  fabric.ports.resize(kMaxFabricPorts + 1);
  fabric.ports[0].gids.resize(kMaxFabricGids + 1);
  fabric.ports[0].pkeys.assign(kMaxFabricPkeys + 1, 0xffff);
  fabric.gpus.resize(kMaxFabricGpus + 1);
  fabric.numa.resize(kMaxFabricNuma + 1);
  const auto read = wire::decode_node_fabric(wire::encode(fabric));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->interfaces.size(), kMaxFabricInterfaces);
  EXPECT_LE(read->interfaces[0].name.size(), kMaxFabricTextBytes);
  EXPECT_EQ(read->interfaces[0].addresses.size(), kMaxFabricAddresses);
  EXPECT_EQ(read->ports.size(), kMaxFabricPorts);
  EXPECT_EQ(read->ports[0].gids.size(), kMaxFabricGids);
  EXPECT_EQ(read->ports[0].pkeys.size(), kMaxFabricPkeys);
  EXPECT_EQ(read->gpus.size(), kMaxFabricGpus);
  EXPECT_EQ(read->numa.size(), kMaxFabricNuma);
}

// `ip link set lo mtu 2147483647` is allowed, and must not keep a node from its launcher.
TEST(FabricCodec, ALargeNumberBecomesTheLargest) {
  NodeFabric fabric;
  FabricInterface& lo = fabric.interfaces.emplace_back();
  lo.mtu = INT32_MAX;
  lo.speed_mbps = -7;
  fabric.ports.emplace_back().rate_gbps = -1;
  fabric.memlock_bytes = -5;
  const auto read = wire::decode_node_fabric(wire::encode(fabric));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_GT(read->interfaces[0].mtu, 65'536);
  EXPECT_EQ(read->interfaces[0].speed_mbps, -1);
  EXPECT_EQ(read->ports[0].rate_gbps, 0);
  EXPECT_EQ(read->memlock_bytes, -1);

  ProbeOffer offer;
  offer.candidates = {{"lo", "10.0.0.1", INT32_MAX}};
  EXPECT_TRUE(wire::decode_gang(wire::encode(GangMessage(offer))));

  OperatorSettings settings;
  settings.variables.push_back({"NCCL_X", std::string(2 * kMaxSettingTextBytes, 'x'), "f:1"});
  pb::OperatorSettings wire;
  pb::to_wire(settings, &wire);
  EXPECT_TRUE(pb::from_wire(wire, &settings));
}

TEST(FabricCodec, RefusesWhatNoNodeCanHave) {
  const auto refused = [](auto change) {
    pb::StoredFabric wire;
    wire.set_version(wire::kRunnerVersion);
    change(*wire.mutable_fabric());
    return !wire::decode_node_fabric(pb::serialize(wire));
  };
  EXPECT_FALSE(refused([](pb::NodeFabric&) {}));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) { to.set_memlock_bytes(-2); }));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) { to.add_interfaces()->set_mtu(-1); }));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) { to.add_interfaces()->set_speed_mbps(-2); }));
  EXPECT_TRUE(
      refused([](pb::NodeFabric& to) { to.add_interfaces()->add_addresses()->set_prefix(129); }));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) { to.add_ports()->set_port(256); }));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) { to.add_ports()->add_pkeys(0x10000); }));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) { to.add_gpus()->set_index(-1); }));
  EXPECT_TRUE(refused([](pb::NodeFabric& to) {
    for (std::size_t i = 0; i <= kMaxFabricInterfaces; ++i) to.add_interfaces();
  }));
}

TEST(FabricCodec, AProbeOfTheLargestGangTravels) {
  ProbeResult probe;
  for (int node = 0; node < kMaxNodesPerJob; ++node)
    probe.chosen.push_back(
        {node, "eth1", "10.0.0.1", std::chrono::microseconds(40), 100'000, 9'000});
  probe.failures.push_back(
      {1, 2, "10.0.0.4", "eth1", "10.0.0.5", 41'999, PathTrouble::large_packets_lost, 1'400});
  EXPECT_TRUE((there_and_back<pb::ProbeResult>(probe)) == probe);
}

// Whoever tells of the first one would read behind the list.
TEST(FabricCodec, MorePathsAreNotBrokenThanFailed) {
  pb::ProbeResult wire;
  wire.set_broken(1);
  ProbeResult probe;
  EXPECT_FALSE(pb::from_wire(wire, &probe));
  pb::to_wire(PathFailure{}, wire.add_failures());
  EXPECT_TRUE(pb::from_wire(wire, &probe));
  EXPECT_EQ(probe.broken, 1);
}

TEST(FabricCodec, SettingsTravelWithSourceReasonAndWarning) {
  const NetworkSetting setting{"NCCL_IB_DISABLE", "1", SettingSource::user, "set by the job",
                               "RDMA is off"};
  EXPECT_TRUE((there_and_back<pb::NetworkSetting>(setting)) == setting);
  const SettingOverride other{setting, {1, 3}};
  EXPECT_TRUE((there_and_back<pb::SettingOverride>(other)) == other);

  pb::SettingOverride hostile;
  pb::to_wire(other, &hostile);
  hostile.add_local_ranks(kMaxRanksPerNode);
  SettingOverride read;
  EXPECT_FALSE(pb::from_wire(hostile, &read));
}

TEST(FabricCodec, OperatorSettingsThatAreAbsentStayAbsent) {
  EXPECT_TRUE((there_and_back<pb::OperatorSettings>(OperatorSettings{})).empty());
  OperatorSettings settings;
  settings.rdma.emplace();  // no ports at all: that is said
  EXPECT_TRUE((there_and_back<pb::OperatorSettings>(settings)) == settings);
}

}  // namespace
}  // namespace lockstep
