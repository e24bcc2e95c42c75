#include "launcher/core/placement/rdma_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "common/domain/why/nodes/fit.h"

namespace lockstep::launcher {

namespace {
constexpr int kFullMember = 0x8000;
constexpr int kDefaultPartition = 0x7fff;
constexpr std::size_t kMaxNamedPorts = 4;  // ports that one reason names

// Orders fabrics, the best first.
struct ByPreference {
  static auto key(const GangFabric& one) {
    return std::tuple(one.link_layer != "InfiniBand", one.pkey != kDefaultPartition, one.pkey,
                      one.link_layer, one.subnet);
  }
  bool operator()(const GangFabric& a, const GangFabric& b) const { return key(a) < key(b); }
};
using Fabrics = std::set<GangFabric, ByPreference>;

// The fabrics that ranks can use on this node. Partitions do not matter for RoCE, and routers
// connect all its subnets.
Fabrics usable_fabrics(const Inventory& inventory) {
  Fabrics fabrics;
  if (inventory.fabric && !inventory.fabric->has_infiniband_devices) return fabrics;
  for (const RdmaPort& port : inventory.rdma_ports) {
    if (!port.active() || port.link_layer.empty()) continue;
    const bool is_roce = port.link_layer == "Ethernet";
    if (is_roce || port.pkeys.empty())
      fabrics.insert({port.link_layer, is_roce ? "" : port.subnet_prefix, -1});
    else
      for (const int pkey : port.pkeys)
        if ((pkey & kFullMember) != 0)
          fabrics.insert({port.link_layer, port.subnet_prefix, pkey & ~kFullMember});
  }
  return fabrics;
}
}  // namespace

GangFabric shared_fabric(const std::vector<const Inventory*>& nodes) {
  if (nodes.empty()) return {};
  Fabrics common = usable_fabrics(*nodes.front());
  for (const Inventory* node : nodes) {
    if (common.empty()) return {};
    const Fabrics here = usable_fabrics(*node);
    std::erase_if(common, [&](const GangFabric& one) { return here.count(one) == 0; });
  }
  return common.empty() ? GangFabric() : *common.begin();
}

std::vector<std::string> fabrics_of(const Inventory& inventory) {
  std::vector<std::string> fabrics;
  for (const RdmaPort& port : inventory.rdma_ports) {
    if (!port.active()) continue;
    const std::string subnet = port.link_layer + " " + port.subnet_prefix;
    if (port.pkeys.empty()) fabrics.push_back(subnet);
    for (const int pkey : port.pkeys)
      if ((pkey & kFullMember) != 0)
        fabrics.push_back(fmt::format("{} 0x{:04x}", subnet, pkey & ~kFullMember));
  }
  std::sort(fabrics.begin(), fabrics.end());
  fabrics.erase(std::unique(fabrics.begin(), fabrics.end()), fabrics.end());
  return fabrics;
}

bool has_active_port(const Inventory& inventory) {
  return std::any_of(inventory.rdma_ports.begin(), inventory.rdma_ports.end(),
                     [](const RdmaPort& port) { return port.active(); });
}

Why why_no_rdma(const Inventory& inventory, bool alone) {
  if (inventory.rdma_ports.empty()) return NodeHasNoRdma{};
  if (!has_active_port(inventory)) {
    RdmaPortsAreDown reason;
    for (const RdmaPort& port : inventory.rdma_ports)
      if (reason.ports.size() < kMaxNamedPorts)
        reason.ports.push_back({port.device, port.port, port.state});
    return reason;
  }
  if (!alone && fabrics_of(inventory).empty()) return NodeIsInNoPartition{};
  return {};
}

}  // namespace lockstep::launcher
