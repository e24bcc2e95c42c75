#include "common/io/port_lease.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

namespace lockstep::io {
namespace {

// Empty: somebody else has the name, of whatever user.
Fd take_name(std::uint16_t port) {
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  // Nobody shall fill a buffer that we never read.
  ::shutdown(fd.get(), SHUT_RDWR);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("lockstep-port-{}", port);
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);  // the leading zero: abstract
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) fd.reset();
  return fd;
}

// Binds every address of the family, without listening. Fails where somebody listens, or holds the
// port without SO_REUSEADDR; other leases and their probes do not stand in the way. `alone`: it
// fails where anybody has bound the port.
Fd bind_without_listening(int family, std::uint16_t port, bool alone = false) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int on = 1;
  if (!alone) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  const auto* address = family == AF_INET ? reinterpret_cast<const sockaddr*>(&v4)
                                          : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
  const int result = ::bind(fd.get(), address, size);
  const int error = errno;
  if (result != 0) fd.reset();
  errno = error;
  return fd;
}

// Two binds instead of a search in /proc/net/tcp, which takes milliseconds.
bool somebody_listens(std::uint16_t port) {
  for (const int family : {AF_INET, AF_INET6}) {
    if (!bind_without_listening(family, port) && errno == EADDRINUSE) return true;
  }
  return false;
}

// For a port whose name is taken: whether no lease has bound it.
bool nobody_has(std::uint16_t port) {
  return static_cast<bool>(bind_without_listening(AF_INET, port, true));
}

PortRange kernel_range() {
  PortRange range{32768, 60999};
  const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range");
  unsigned first = 0, last = 0;
  if (text && std::sscanf(text->c_str(), "%u %u", &first, &last) == 2) {
    range = {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)};
  }
  return range;
}

}  // namespace

PortLease::PortLease(std::uint16_t port, Fd lock, Fd bound)
    : port_(port), lock_(std::move(lock)), bound_(std::move(bound)) {}

Result<PortLease> PortLease::acquire(PortRange range) {
  const PortRange ephemeral = kernel_range();
  for (const bool by_name : {true, false})
    for (std::uint32_t port = range.first; port <= range.last; ++port) {
      if (port >= ephemeral.first && port <= ephemeral.last) continue;
      const auto number = static_cast<std::uint16_t>(port);
      Fd lock = take_name(number);
      if (!lock && (by_name || !nobody_has(number))) continue;
      Fd bound = bind_without_listening(AF_INET, number);
      if (!bound || somebody_listens(number)) continue;
      return PortLease(number, std::move(lock), std::move(bound));
    }
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("no free TCP port in {}-{} (outside the kernel's own range {}-{}): each is "
                  "leased to another job or in use; wait for one to end. `ss -lntx` lists the "
                  "listening ports and the leases (@lockstep-port-N)",
                  range.first, range.last, ephemeral.first, ephemeral.last));
}

bool PortLease::taken() const { return somebody_listens(port_); }

}  // namespace lockstep::io
