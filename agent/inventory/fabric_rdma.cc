#include "agent/inventory/fabric_rdma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "agent/inventory/pci.h"
#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr int kMostGidIndex = 4'096;  // places of a GID table; most are empty
constexpr int kMostPkeyIndex = 1'024;

// "4: ACTIVE"
std::string word_of_state(const std::string& line) {
  const auto colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

// "200 Gb/sec (4X HDR)" or "2.5 Gb/sec (1X SDR)" as whole Gbit/s; 0: unknown.
int gbps_of(const std::string& line) {
  constexpr double kMost = 1e6;
  double rate = 0;
  if (std::sscanf(line.c_str(), "%lf", &rate) != 1 || rate <= 0 || rate >= kMost) return 0;
  return static_cast<int>(rate);
}

bool is_set(const std::string& gid) {
  constexpr std::size_t kGidCharacters = 39;
  return gid.size() == kGidCharacters && gid.find_first_not_of("0:") != std::string::npos;
}

// The GIDs of a port. An empty place cannot be read, or holds only zeros.
std::vector<FabricGid> gids_of(const std::string& directory) {
  std::vector<FabricGid> gids;
  for (const int index : numbers_in(directory + "/gids")) {
    if (index > kMostGidIndex || gids.size() >= kMaxFabricGids) break;
    FabricGid gid;
    gid.index = index;
    gid.gid = line_of(fmt::format("{}/gids/{}", directory, index));
    if (!is_set(gid.gid)) continue;
    gid.type = line_of(fmt::format("{}/gid_attrs/types/{}", directory, index));
    gid.netdev = line_of(fmt::format("{}/gid_attrs/ndevs/{}", directory, index));
    gids.push_back(std::move(gid));
  }
  return gids;
}

// Reads the keys by place. The place is kept, because NCCL_IB_PKEY counts places; empty ones at the
// end are left out.
std::vector<int> pkeys_by_place(const std::string& directory) {
  std::vector<int> pkeys;
  for (const int place : numbers_in(directory)) {
    if (place > kMostPkeyIndex || static_cast<std::size_t>(place) >= kMaxFabricPkeys) break;
    const long long value = number_of(fmt::format("{}/{}", directory, place), 0);
    if (value <= 0 || value > 0xffff) continue;
    pkeys.resize(static_cast<std::size_t>(place) + 1, 0);
    pkeys.back() = static_cast<int>(value);
  }
  return pkeys;
}

// "Global tclass=106": the traffic class that the administrator of a RoCE network has set.
int traffic_class_of(const std::string& path) {
  const std::string line = line_of(path);
  const auto equals = line.rfind('=');
  int number = -1;
  if (equals == std::string::npos || std::sscanf(line.c_str() + equals + 1, "%d", &number) != 1 ||
      number < 0 || number > 255)
    return -1;
  return number;
}

// The interface of a device. RoCE: the one of its GIDs. InfiniBand: the one for IP over it.
// Soft-RoCE: its parent.
std::string netdev_of(const std::string& device, const FabricPort& port) {
  for (const FabricGid& gid : port.gids)
    if (!gid.netdev.empty()) return gid.netdev;
  if (std::string parent = line_of(device + "/parent"); !parent.empty()) return parent;
  const auto names = io::list_directory(device + "/device/net");
  if (!names) return "";
  for (const std::string& name : *names)
    if (number_of(fmt::format("{}/device/net/{}/dev_port", device, name), 0) + 1 == port.port)
      return name;
  return "";
}

// Splits "mlx5_10" into ("mlx5_", 10).
std::pair<std::string, int> parts_of_name(const std::string& name) {
  const auto last = name.find_last_not_of("0123456789");
  const std::string digits = last == std::string::npos ? name : name.substr(last + 1);
  int number = -1;
  if (!digits.empty() && digits.size() <= 6) std::sscanf(digits.c_str(), "%d", &number);
  return {name.substr(0, name.size() - digits.size()), number};
}

bool comes_before(const FabricPort& a, const FabricPort& b) {
  return std::tuple(parts_of_name(a.device), a.device, a.port) <
         std::tuple(parts_of_name(b.device), b.device, b.port);
}

}  // namespace

std::vector<FabricPort> probe_fabric_ports(const std::string& sys) {
  constexpr int kLastPort = 255;
  std::vector<FabricPort> ports;
  const std::string root = sys + "/class/infiniband";
  const auto devices = io::list_directory(root);
  if (!devices) return ports;
  for (const std::string& name : *devices) {
    const std::string device = root + "/" + name;
    const DevicePlace place = device_place(device + "/device");
    for (const int number : numbers_in(device + "/ports")) {
      if (number > kLastPort) break;
      const std::string directory = fmt::format("{}/ports/{}", device, number);
      FabricPort port;
      port.device = name.substr(0, kMaxFabricTextBytes);
      port.port = number;
      port.state = word_of_state(line_of(directory + "/state"));
      port.link_layer = line_of(directory + "/link_layer");
      port.rate_gbps = gbps_of(line_of(directory + "/rate"));
      port.lid =
          static_cast<int>(std::clamp<long long>(number_of(directory + "/lid", 0), 0, 0xffff));
      port.gids = gids_of(directory);
      port.pkeys = pkeys_by_place(directory + "/pkeys");
      port.firmware = line_of(device + "/fw_ver");
      port.netdev = netdev_of(device, port);
      port.pci = place.pci;
      port.numa_node = place.numa_node;
      port.driver = place.driver;
      port.traffic_class = traffic_class_of(fmt::format("{}/tc/{}/traffic_class", device, number));
      ports.push_back(std::move(port));
    }
  }
  std::sort(ports.begin(), ports.end(), comes_before);
  if (ports.size() > kMaxFabricPorts) ports.resize(kMaxFabricPorts);
  return ports;
}

}  // namespace lockstep::agent
