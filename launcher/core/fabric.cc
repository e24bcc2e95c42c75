#include "launcher/core/fabric.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::launcher {

namespace {
constexpr int kFullMember = 0x8000;
constexpr std::size_t kMaxNamedPorts = 4;  // in one reason
}  // namespace

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

std::optional<std::string> why_no_rdma(const Inventory& inventory, bool alone) {
  if (inventory.rdma_ports.empty()) return "has no RDMA device";
  if (!has_active_port(inventory)) {
    std::vector<std::string> ports;
    for (const RdmaPort& port : inventory.rdma_ports)
      if (ports.size() < kMaxNamedPorts)
        ports.push_back(fmt::format("{}:{} is {}", port.device, port.port, port.state));
    return fmt::format("has no active RDMA port ({})", fmt::join(ports, ", "));
  }
  if (!alone && fabrics_of(inventory).empty())
    return "is a full member of no InfiniBand partition (pkey), so other nodes cannot reach it by "
           "RDMA";
  return std::nullopt;
}

}  // namespace lockstep::launcher
