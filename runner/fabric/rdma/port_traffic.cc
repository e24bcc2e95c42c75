#include "runner/fabric/rdma/port_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "common/domain/targets/node.h"
#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr Bytes kMostOfFile = kibibytes(4);
constexpr std::size_t kMostStateBytes = 32;

// The kernel's Documentation/ABI: port_xmit_data and port_rcv_data count words of four bytes. In
// drivers' hw_counters, EFA and bnxt_re count bytes, rxe counts packets.
struct Counters {
  const char* sent;
  const char* received;
  std::uint64_t unit;
};
constexpr Counters kCounters[] = {
    {"counters/port_xmit_data", "counters/port_rcv_data", 4},
    {"hw_counters/tx_bytes", "hw_counters/rx_bytes", 1},
    {"hw_counters/sent_pkts", "hw_counters/rcvd_pkts", kBytesOfPacket},
};

std::optional<std::uint64_t> counter(const std::string& path) {
  const auto text = io::read_file(path, kMostOfFile);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text->c_str(), &end, 10);
  if (end == text->c_str()) return std::nullopt;  // the file may hold "N/A (no PMA)"
  return value;
}

std::optional<std::uint64_t> bytes_of(const std::string& port) {
  for (const Counters& one : kCounters) {
    const auto sent = counter(fmt::format("{}/{}", port, one.sent));
    const auto received = counter(fmt::format("{}/{}", port, one.received));
    if (sent && received) return (*sent + *received) * one.unit;
  }
  return std::nullopt;
}

// "4: ACTIVE"
std::string port_state(const std::string& port) {
  auto text = io::read_file(port + "/state", kMostOfFile);
  if (!text) return "";
  const auto colon = text->find(": ");
  std::string state = colon == std::string::npos ? *text : text->substr(colon + 2);
  state.erase(state.find_last_not_of(" \n") + 1);
  return state.substr(0, kMostStateBytes);
}

const PortTraffic* port_in(const std::vector<PortTraffic>& all, const std::string& device,
                           int port) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const PortTraffic& one) {
    return one.device == device && one.port == port;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<PortTraffic> read_port_traffic(const std::string& sys) {
  std::vector<PortTraffic> all;
  const std::string root = sys + "/class/infiniband";
  const auto devices = io::list_directory(root);
  if (!devices) return all;
  for (const std::string& device : *devices) {
    const auto numbers = io::list_directory(fmt::format("{}/{}/ports", root, device));
    if (!numbers) continue;
    for (const std::string& number : *numbers) {
      PortTraffic port;
      if (std::sscanf(number.c_str(), "%d", &port.port) != 1) continue;
      const std::string folder = fmt::format("{}/{}/ports/{}", root, device, number);
      port.device = device;
      port.state = port_state(folder);
      port.bytes = bytes_of(folder);
      all.push_back(std::move(port));
      if (all.size() == kMaxRdmaPorts) break;
    }
    if (all.size() == kMaxRdmaPorts) break;
  }
  std::sort(all.begin(), all.end(), [](const PortTraffic& a, const PortTraffic& b) {
    return std::tie(a.device, a.port) < std::tie(b.device, b.port);
  });
  return all;
}

// The traffic between two readings. A device may have been reset, or a 32-bit counter may be full:
// a lower value counts as no traffic.
TrafficSince traffic_since(const std::vector<PortTraffic>& before,
                           const std::vector<PortTraffic>& now) {
  TrafficSince since;
  for (const PortTraffic& port : now) {
    if (!port.bytes) continue;
    if (*port.bytes > 0) since.counts = true;
    const PortTraffic* earlier = port_in(before, port.device, port.port);
    if (earlier == nullptr || !earlier->bytes || *earlier->bytes >= *port.bytes) continue;
    since.bytes += static_cast<std::int64_t>(*port.bytes - *earlier->bytes);
  }
  return since;
}

void refresh_states(const std::vector<PortTraffic>& now, NodeFabric& fabric) {
  for (FabricPort& port : fabric.ports) {
    const PortTraffic* seen = port_in(now, port.device, port.port);
    port.state = seen != nullptr && !seen->state.empty() ? seen->state : "gone";
  }
}

}  // namespace lockstep::runner
