#include "runner/fabric/probe/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <bit>
#include <cstring>
#include <memory>

#include "common/io/file_system.h"

namespace lockstep::runner {
namespace {

constexpr char kRoutes[] = "/proc/self/net/route";
constexpr Bytes kMostRoutes = kibibytes(256);
constexpr char kVirtualDevices[] = "/sys/devices/virtual/net/";
constexpr int kUsualMtu = 1500;

std::string text_of(const sockaddr* address) {
  char text[INET_ADDRSTRLEN] = {};
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
  return inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text) != nullptr ? text : "";
}

int prefix_of(const sockaddr* mask) {
  if (mask == nullptr) return 32;
  return std::popcount(reinterpret_cast<const sockaddr_in*>(mask)->sin_addr.s_addr);
}

int mtu_of(int socket, const char* interface) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
  return ::ioctl(socket, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : kUsualMtu;
}

// Whether an interface is virtual. An alias ("eth0:1") has no folder in /sys, so its interface's is
// used.
bool is_virtual_device(const std::string& interface) {
  return io::exists(kVirtualDevices + interface.substr(0, interface.find(':')));
}

}  // namespace

std::vector<LocalAddress> local_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  const io::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::vector<LocalAddress> found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    constexpr unsigned kRuns = IFF_UP | IFF_RUNNING;
    LocalAddress local;
    local.interface = each->ifa_name;
    local.address = text_of(each->ifa_addr);
    local.prefix = prefix_of(each->ifa_netmask);
    local.mtu = mtu_of(socket.get(), each->ifa_name);
    local.running = (each->ifa_flags & kRuns) == kRuns;
    local.loopback = (each->ifa_flags & IFF_LOOPBACK) != 0;
    local.is_virtual = is_virtual_device(local.interface);
    if (!local.address.empty()) found.push_back(std::move(local));
  }
  return found;
}

std::string routes_text() { return io::read_file(kRoutes, kMostRoutes).value_or(""); }

}  // namespace lockstep::runner
