// The network settings that ranks get on real machines (machines/*.txt), as golden files:
// golden/NAME.txt has those of the node's first rank and those of other ranks that differ, each
// with its source and reason. LOCKSTEP_WRITE_GOLDEN=1 fabric_test writes them again; read the
// difference before it is committed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "common/fabric/settings.h"
#include "tests/unit/common/fabric/machine.h"

namespace lockstep::runner {
namespace {

using test::Machine;

struct Case {
  std::string name, machine;
  int nodes = 2, ranks = 1;
  Distribution::Kind kind = Distribution::Kind::pytorch;
  Rdma rdma = Rdma::off;
  std::vector<int> gpus = {};
  // What the probe chose here; no interface: there was no probe.
  ChosenPath chosen = {};
  std::string route = {};
  GangFabric gang = {};
  std::map<std::string, std::string> variables = {};
  OperatorSettings operators = {};
};

ChosenPath chosen(const std::string& interface, const std::string& address, int microseconds,
                  std::int64_t mbps) {
  return {0, interface, address, std::chrono::microseconds(microseconds), mbps, 1'500};
}

std::vector<int> first_gpus(int count) {
  std::vector<int> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(i);
  return gpus;
}

const GangFabric kInfiniBand{"InfiniBand", "fe80:0000:0000:0000", 0x7fff};
const GangFabric kRoce{"Ethernet", "", -1};

GangFabric partition(int pkey) { return {"InfiniBand", "fe80:0000:0000:0000", pkey}; }

// Of the operator of the NDv4 cluster: its topology file, and one port for a test.
OperatorSettings ndv4_rules() {
  OperatorSettings settings;
  settings.variables = {{"NCCL_IB_TC", "41", "fabric.yml:7"},
                        {"NCCL_TOPO_FILE", "/opt/microsoft/ndv4-topo.xml", "fabric.yml:2"}};
  settings.rdma = OperatorRdma{{"mlx5_ib0", "mlx5_ib1:1"}, "fabric.yml:7"};
  settings.interface = OperatorInterface{{"bond0"}, {"172.16.0.0/16"}, "fabric.yml:2"};
  return settings;
}

std::vector<Case> cases() {
  using Kind = Distribution::Kind;
  std::vector<Case> all;
  all.push_back({"azure-ndv4", "azure-ndv4", 2, 8, Kind::pytorch, Rdma::off, first_gpus(8),
                 chosen("eth0", "10.0.0.4", 50, 24'000), "", partition(0x10)});
  all.push_back({"azure-ndv5", "azure-ndv5", 16, 8, Kind::pytorch, Rdma::required, first_gpus(8),
                 chosen("eth0", "10.0.0.5", 40, 40'000), "", partition(0x23)});
  all.push_back({"azure-nc24rs-v3", "azure-nc24rs-v3", 2, 4, Kind::pytorch, Rdma::off,
                 first_gpus(4), chosen("eth0", "10.0.0.6", 120, 18'400), "", partition(0x7)});
  all.push_back({"azure-hb",
                 "azure-hb",
                 2,
                 4,
                 Kind::mpi,
                 Rdma::required,
                 {},
                 chosen("eth0", "10.0.0.7", 50, 24'000),
                 "",
                 partition(0x52)});
  all.push_back({"dgx-a100", "dgx-a100", 2, 8, Kind::pytorch, Rdma::off, first_gpus(8),
                 chosen("enp226s0", "10.33.0.11", 100, 941), "", kInfiniBand});
  all.push_back({"plain-vm",
                 "plain-vm",
                 3,
                 2,
                 Kind::mpi,
                 Rdma::off,
                 {},
                 chosen("eth0", "10.0.0.8", 200, 9'400)});
  all.push_back({"azure-an",
                 "azure-an",
                 2,
                 1,
                 Kind::pytorch,
                 Rdma::off,
                 {},
                 chosen("eth0", "10.0.0.9", 60, 11'800),
                 "",
                 kRoce});
  all.push_back({"laptop", "laptop", 2, 1, Kind::pytorch, Rdma::off, {}, {}, "wlp0s20f3"});
  all.push_back({"roce-cluster", "roce-cluster", 2, 4, Kind::pytorch, Rdma::off, first_gpus(4),
                 chosen("ens1", "10.2.0.21", 20, 92'300), "", kRoce});
  all.push_back({"soft-roce",
                 "soft-roce",
                 2,
                 1,
                 Kind::mpi,
                 Rdma::preferred,
                 {},
                 chosen("eth0", "10.93.0.1", 300, 8'100),
                 "",
                 kRoce});
  Case mistakes{"mistakes",
                "roce-cluster",
                2,
                4,
                Kind::pytorch,
                Rdma::required,
                first_gpus(4),
                chosen("ens1", "10.2.0.21", 20, 92'300),
                "",
                kRoce};
  mistakes.variables = {{"GLOO_SOCKET_IFNAME", "=ens1"},  {"NCCL_IB_DISABLE", "1"},
                        {"NCCL_IB_GID_INDEX", "1"},       {"NCCL_SOCKET_IFNAME", "eth"},
                        {"UCX_NET_DEVICES", "mlx5_4:1"},  {"UCX_TLS", "tcp"},
                        {"NOT_OF_THE_NETWORK", "/secret"}};
  all.push_back(mistakes);
  Case ruled{"operator",
             "azure-ndv4",
             2,
             2,
             Kind::pytorch,
             Rdma::off,
             first_gpus(2),
             chosen("eth0", "10.0.0.4", 50, 24'000),
             "",
             partition(0x10)};
  ruled.operators = ndv4_rules();
  all.push_back(ruled);
  return all;
}

std::string lines_of(const NetworkSetting& one) {
  std::string text =
      fmt::format("{}={}\n  {}: {}\n", one.name, one.value, to_string(one.source), one.reason);
  if (!one.warning.empty()) text += fmt::format("  warning: {}\n", one.warning);
  return text;
}

std::vector<NetworkSettings> settings_of(const Case& one, const NodeFabric& fabric) {
  JobSpec spec;
  spec.resources.instance_count = one.nodes;
  spec.resources.rdma = one.rdma;
  spec.distribution = {one.kind, one.ranks};
  spec.environment_variables = one.variables;
  ProbeResult probe;
  probe.chosen = {one.chosen};
  const ProbeResult* const found = one.chosen.interface.empty() ? nullptr : &probe;
  RankPlace place{0, 0, one.gpus, one.route};
  place.gang_fabric = one.gang;
  std::vector<NetworkSettings> all;
  for (; place.local_rank < one.ranks; ++place.local_rank)
    all.push_back(settings_for(fabric, found, one.operators, spec, place));
  return all;
}

std::string golden_text(const std::vector<NetworkSettings>& all) {
  std::string text;
  for (const NetworkSetting& setting : all.front()) text += lines_of(setting);
  for (const SettingOverride& other : differences(all))
    text += fmt::format("rank {}: {}", fmt::join(other.local_ranks, ", "), lines_of(other.setting));
  return text;
}

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, SettingsAreThoseOfTheFile) {
  const Case& one = GetParam();
  const std::string text = golden_text(settings_of(one, Machine(one.machine).fabric()));
  const std::string path = std::string(LOCKSTEP_GOLDEN) + "/" + one.name + ".txt";
  if (std::getenv("LOCKSTEP_WRITE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  EXPECT_EQ(text, test::read_text(path)) << "see LOCKSTEP_WRITE_GOLDEN in golden_test.cc";
}

INSTANTIATE_TEST_SUITE_P(Machines, Golden, testing::ValuesIn(cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The bound is 1 ms for a rank; a loaded machine gets ten times as much here, and
// tests/bench/settings_bench measures.
TEST(SettingsTime, OfARankIsShort) {
  Case dgx;
  for (const Case& one : cases())
    if (one.name == "dgx-a100") dgx = one;
  const NodeFabric fabric = Machine(dgx.machine).fabric();
  constexpr int kTimes = 20;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) EXPECT_EQ(settings_of(dgx, fabric).size(), 8u);
  const auto each = (std::chrono::steady_clock::now() - begin) / (kTimes * dgx.ranks);
  EXPECT_LT(each, std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace lockstep::runner
