#include "agent/inventory/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <map>
#include <optional>

#include "common/io/file_system.h"

namespace lockstep::agent {
namespace {

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  }
  return text;
}

// The kernel answers -1 or an error for a device that does not know its speed.
std::int64_t speed_mbps(const std::string& sys, const std::string& name) {
  const auto text = io::read_file(sys + "/class/net/" + name + "/speed");
  long long speed = -1;
  if (!text || std::sscanf(text->c_str(), "%lld", &speed) != 1 || speed <= 0) return -1;
  return speed;
}

struct HostPort {
  std::string host, port;
};

std::optional<HostPort> parse_tcp(const std::string& endpoint) {
  constexpr std::string_view kScheme = "tcp://";
  if (endpoint.compare(0, kScheme.size(), kScheme) != 0) return std::nullopt;
  const auto colon = endpoint.rfind(':');
  if (colon <= kScheme.size()) return std::nullopt;
  std::string host = endpoint.substr(kScheme.size(), colon - kScheme.size());
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return HostPort{host, endpoint.substr(colon + 1)};
}

}  // namespace

std::vector<NetworkInterface> probe_interfaces(const std::string& sys) {
  std::map<std::string, NetworkInterface> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    auto& interface = found[entry->ifa_name];
    interface.name = entry->ifa_name;
    interface.up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    interface.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (!entry->ifa_addr) continue;
    const std::string address = address_text(entry->ifa_addr);
    if (!address.empty()) interface.addresses.push_back(address);
  }
  ::freeifaddrs(list);
  std::vector<NetworkInterface> interfaces;
  for (auto& [name, interface] : found) {
    interface.speed_mbps = speed_mbps(sys, name);
    interfaces.push_back(std::move(interface));
  }
  return interfaces;
}

std::string route_address(const std::string& endpoint) {
  const std::string fallback = "127.0.0.1";
  const auto target = parse_tcp(endpoint);
  if (!target) return fallback;
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(target->host.c_str(), target->port.c_str(), &hints, &list) != 0)
    return fallback;
  std::string address;
  for (const addrinfo* entry = list; entry && address.empty(); entry = entry->ai_next) {
    const io::Fd fd(::socket(entry->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd || ::connect(fd.get(), entry->ai_addr, entry->ai_addrlen) != 0) continue;
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0) continue;
    address = address_text(reinterpret_cast<const sockaddr*>(&local));
  }
  ::freeaddrinfo(list);
  return address.empty() ? fallback : address;
}

bool is_loopback_address(const std::string& address) {
  in_addr v4{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  return address == "::1" || address == "localhost";
}

}  // namespace lockstep::agent
