#include "runner/bootstrap/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr char kAnyPort[] = "9";  // any port: nothing is sent to it

std::optional<std::string> numeric(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  const void* raw = nullptr;
  if (address->sa_family == AF_INET) {
    raw = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    raw = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  } else {
    return std::nullopt;
  }
  if (!inet_ntop(address->sa_family, raw, text, sizeof text)) return std::nullopt;
  return std::string(text);
}

}  // namespace

std::optional<std::string> interface_of(const std::string& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (entry->ifa_addr && numeric(entry->ifa_addr) == address) return std::string(entry->ifa_name);
  }
  // All of 127.0.0.0/8 belongs to the loopback, though only one address of it is listed.
  if (address.rfind("127.", 0) == 0) return std::string("lo");
  return std::nullopt;
}

std::string host_and_port(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]:" : host + ":") + std::to_string(port);
}

bool loopback_is_up() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return true;  // unknown, so assume that it is
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if ((entry->ifa_flags & IFF_LOOPBACK) && (entry->ifa_flags & IFF_UP)) return true;
  }
  return false;
}

std::optional<std::string> source_address_towards(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), kAnyPort, &hints, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  for (const addrinfo* entry = found; entry; entry = entry->ai_next) {
    const io::Fd fd(socket(entry->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd || connect(fd.get(), entry->ai_addr, entry->ai_addrlen) != 0) continue;
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0) continue;
    return numeric(reinterpret_cast<const sockaddr*>(&local));
  }
  return std::nullopt;
}

std::optional<std::string> gang_interface(const GangContext& gang) {
  const auto& members = gang.gang().members;
  if (members.size() < 2) return std::nullopt;
  const GangMember& self = members[static_cast<std::size_t>(gang.assignment.node_rank)];
  const GangMember* other = nullptr;
  for (const GangMember& member : members) {
    if (member.host_id != self.host_id) {
      other = &member;
      break;
    }
  }
  if (!other) return std::string("lo");
  if (const auto source = source_address_towards(other->address)) {
    if (const auto name = interface_of(*source)) return name;
  }
  return interface_of(self.address);
}

}  // namespace lockstep::runner
