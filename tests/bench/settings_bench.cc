// What the network settings of a rank cost: at most 1 ms (docs/decisions/085-network-settings.md).
// On a DGX A100 in a gang of a thousand nodes, and on a machine of 120 ranks without a GPU.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "common/fabric/settings.h"

namespace lockstep::runner {
namespace {

constexpr int kNodes = 1'000;

NodeFabric machine(int gpus, int ports) {
  NodeFabric fabric;
  for (const char* name : {"lo", "docker0", "eth0", "eth1"}) {
    FabricInterface one;
    one.name = name;
    one.up = true;
    one.addresses = {{"10.0.0.4", 24}};
    fabric.interfaces.push_back(one);
  }
  for (int i = 0; i < ports; ++i) {
    FabricPort port;
    port.device = "mlx5_" + std::to_string(i);
    port.state = "ACTIVE";
    port.link_layer = "InfiniBand";
    port.rate_gbps = 200;
    port.pkeys = {0xffff};
    port.pci = "0000:0" + std::to_string(i / 2) + ":01.1/0000:01:00.0/0000:0c:00.0";
    port.gids.assign(8, {0, "fe80:0000:0000:0000:0015:5dff:fe33:ff0e", "IB/RoCE v1", ""});
    fabric.ports.push_back(port);
  }
  for (int i = 0; i < gpus; ++i)
    fabric.gpus.push_back({i,
                           "0000:0" + std::to_string(i / 2) + ":01.1/0000:01:00.0/0000:07:00.0",
                           -1,
                           {},
                           false,
                           {}});
  fabric.has_infiniband_devices = true;
  return fabric;
}

void settings_of_a_rank(benchmark::State& state) {
  const int gpus = static_cast<int>(state.range(0));
  const NodeFabric fabric = machine(gpus, gpus == 0 ? 1 : 8);
  ProbeResult probe;
  for (int node = 0; node < kNodes; ++node)
    probe.chosen.push_back(
        {node, "eth1", "10.0.0.4", std::chrono::microseconds(50), 90'000, 9'000});
  JobSpec spec;
  spec.resources.instance_count = kNodes;
  spec.distribution = {Distribution::Kind::mpi, gpus == 0 ? 120 : gpus};
  for (int i = 0; i < 30; ++i) spec.environment_variables["NCCL_X" + std::to_string(i)] = "1";
  RankPlace place;
  place.node_rank = kNodes - 1;
  for (int i = 0; i < gpus; ++i) place.gpus.push_back(i);
  for (auto _ : state) {
    place.local_rank = (place.local_rank + 1) % spec.distribution.processes_per_node;
    benchmark::DoNotOptimize(settings_for(fabric, &probe, {}, spec, place));
  }
}
BENCHMARK(settings_of_a_rank)->Arg(0)->Arg(8)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lockstep::runner

BENCHMARK_MAIN();
