#include "agent/inventory/rdma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kMostWord = 128;

std::string trimmed_file(const std::string& path) {
  auto text = io::read_file(path);
  if (!text) return "";
  text->erase(text->find_last_not_of(" \n") + 1);
  return text->substr(0, kMostWord);
}

// "4: ACTIVE"
std::string state_of(const std::string& path) {
  const std::string text = trimmed_file(path);
  const auto colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

// "100 Gb/sec (4X EDR)" or "2.5 Gb/sec (1X SDR)" as whole Gb/s.
int rate_of(const std::string& path) {
  double rate = 0;
  if (std::sscanf(trimmed_file(path).c_str(), "%lf", &rate) != 1) return 0;
  return rate > 0 && rate < 1e6 ? static_cast<int>(rate) : 0;
}

// The upper half of GID 0, as in "fe80:0000:0000:0000:0015:5dff:fe33:ff0e"; "" if the port has no
// GIDs.
std::string subnet_prefix_of(const std::string& path) {
  constexpr std::size_t kPrefixBytes = 19;
  const std::string gid = trimmed_file(path);
  const bool is_gid = gid.size() == 39 && gid[kPrefixBytes] == ':';
  const bool is_set = gid.find_first_not_of("0:") != std::string::npos;
  return is_gid && is_set ? gid.substr(0, kPrefixBytes) : "";
}

// Reads the table of 128 places; most hold 0, which means none.
std::vector<int> pkeys_of(const std::string& directory) {
  std::vector<int> pkeys;
  const auto names = io::list_directory(directory);
  if (!names) return pkeys;
  std::vector<int> places;
  for (const std::string& name : *names) {
    int place = 0;
    if (std::sscanf(name.c_str(), "%d", &place) == 1) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  for (const int place : places) {
    if (pkeys.size() >= kMaxPkeys) break;
    unsigned value = 0;
    const std::string text = trimmed_file(fmt::format("{}/{}", directory, place));
    if (std::sscanf(text.c_str(), "%x", &value) != 1 || value == 0 || value > 0xffff) continue;
    const int pkey = static_cast<int>(value);
    if (std::find(pkeys.begin(), pkeys.end(), pkey) == pkeys.end()) pkeys.push_back(pkey);
  }
  return pkeys;
}

}  // namespace

std::vector<RdmaPort> probe_rdma(const std::string& sys) {
  std::vector<RdmaPort> ports;
  const std::string root = sys + "/class/infiniband";
  const auto devices = io::list_directory(root);
  if (!devices) return ports;
  for (const std::string& device : *devices) {
    const auto numbers = io::list_directory(root + "/" + device + "/ports");
    if (!numbers) continue;
    for (const std::string& number : *numbers) {
      RdmaPort port;
      if (std::sscanf(number.c_str(), "%d", &port.port) != 1 || port.port < 0 || port.port > 255)
        continue;
      const std::string directory = fmt::format("{}/{}/ports/{}", root, device, number);
      port.device = device.substr(0, kMostWord);
      port.state = state_of(directory + "/state");
      port.rate_gbps = rate_of(directory + "/rate");
      port.link_layer = trimmed_file(directory + "/link_layer");
      port.subnet_prefix = subnet_prefix_of(directory + "/gids/0");
      port.pkeys = pkeys_of(directory + "/pkeys");
      ports.push_back(std::move(port));
    }
  }
  std::sort(ports.begin(), ports.end(), [](const RdmaPort& a, const RdmaPort& b) {
    return std::tie(a.device, a.port) < std::tie(b.device, b.port);
  });
  if (ports.size() > kMaxRdmaPorts) ports.resize(kMaxRdmaPorts);
  return ports;
}

}  // namespace lockstep::agent
