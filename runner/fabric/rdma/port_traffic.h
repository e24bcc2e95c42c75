#pragma once
// How much the RDMA ports of this node have sent and received, and whether they are up, from
// /sys/class/infiniband. It only reads. The counters are the device's, so other jobs of the node
// change them too.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/targets/fabric.h"

namespace lockstep::runner {

struct PortTraffic {
  std::string device;  // mlx5_0
  int port = 1;
  std::string state;  // "ACTIVE"
  // Bytes of RDMA in both directions. For devices that count only packets: their number times
  // kBytesOfPacket. nullopt: the port has no counter that we know.
  std::optional<std::uint64_t> bytes;
  friend bool operator==(const PortTraffic&, const PortTraffic&) = default;
};
inline constexpr std::uint64_t kBytesOfPacket = 512;

// Reads the traffic by device and port, at most kMaxRdmaPorts. `sys`: /sys, or a fake of it.
std::vector<PortTraffic> read_port_traffic(const std::string& sys = "/sys");

struct TrafficSince {
  bool counts = false;     // at least one port has a counter that is not zero
  std::int64_t bytes = 0;  // the sum over all ports that both readings have
};
TrafficSince traffic_since(const std::vector<PortTraffic>& before,
                           const std::vector<PortTraffic>& now);

// Puts the present states into the fabric that the agent found earlier.
void refresh_states(const std::vector<PortTraffic>& now, NodeFabric& fabric);

}  // namespace lockstep::runner
