#include "launcher/daemon/own_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::launcher {

namespace {

bool is_loopback(const in_addr& address) { return (ntohl(address.s_addr) >> 24) == 127; }

std::string text_of(const in_addr& address) {
  char text[INET_ADDRSTRLEN] = {};
  ::inet_ntop(AF_INET, &address, text, sizeof text);
  return text;
}

// Sends nothing: connecting a datagram socket only looks up the route.
std::string default_route_address() {
  const io::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in far{};
  far.sin_family = AF_INET;
  far.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &far.sin_addr);  // an address that belongs to nobody (RFC 5737)
  sockaddr_in local{};
  socklen_t size = sizeof local;
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&far), sizeof far) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0)
    return "";
  return is_loopback(local.sin_addr) ? "" : text_of(local.sin_addr);
}

bool resolves_beyond_loopback(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return false;
  bool beyond = list != nullptr;
  for (const addrinfo* entry = list; entry; entry = entry->ai_next)
    beyond = beyond && !is_loopback(reinterpret_cast<const sockaddr_in*>(entry->ai_addr)->sin_addr);
  ::freeaddrinfo(list);
  return beyond;
}

std::string interface_address() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return "";
  std::string address;
  for (const ifaddrs* entry = list; entry && address.empty(); entry = entry->ifa_next) {
    const bool up = (entry->ifa_flags & IFF_UP) != 0;
    if (!up || !entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET) continue;
    const in_addr& found = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    if (!is_loopback(found)) address = text_of(found);
  }
  ::freeifaddrs(list);
  return address;
}

}  // namespace

std::string own_address() {
  if (auto address = default_route_address(); !address.empty()) return address;
  if (auto name = io::host_name(); resolves_beyond_loopback(name)) return name;
  if (auto address = interface_address(); !address.empty()) return address;
  return "127.0.0.1";
}

}  // namespace lockstep::launcher
