#include "common/io/net/port_lease.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::io {
namespace {

// Takes the name of a port. Empty: another process of any user has it.
Fd take_name(std::uint16_t port) {
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  // Shut down, so that nobody can fill a buffer that is never read.
  ::shutdown(fd.get(), SHUT_RDWR);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("lockstep-port-{}", port);
  // A name that begins with NUL is abstract.
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) fd.reset();
  return fd;
}

// Binds every address of the family, without listening. Fails if a program listens there, or holds
// the port without SO_REUSEADDR; other leases and their probes do not matter. `alone`: fails if any
// program has bound the port.
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

// Whether somebody listens, tested by two binds, because searching /proc/net/tcp takes
// milliseconds.
bool somebody_listens(std::uint16_t port) {
  for (const int family : {AF_INET, AF_INET6}) {
    if (!bind_without_listening(family, port) && errno == EADDRINUSE) return true;
  }
  return false;
}

// Whether no lease has bound a port whose name is taken.
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

// The ports of the range on which programs listen, by uid. /proc/net/tcp (proc(5)) has a line for
// each socket with the port in hexadecimal, the state (0A: listening) and the uid. It has no line
// for ports that are only bound.
std::map<unsigned, std::set<unsigned>> listeners_in(PortRange range) {
  std::map<unsigned, std::set<unsigned>> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const auto text = read_file(table);
    std::istringstream lines(text ? *text : "");
    for (std::string line; std::getline(lines, line);) {
      unsigned port = 0, state = 0, uid = 0;
      const int read = std::sscanf(line.c_str(), " %*d: %*[0-9A-F]:%x %*s %x %*s %*s %*s %u", &port,
                                   &state, &uid);
      if (read == 3 && state == 0x0A && port >= range.first && port <= range.last)
        found[uid].insert(port);
    }
  }
  return found;
}

// Names the users with most listening ports first; "": no program listens.
std::string who_listens_in(PortRange range) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::pair<std::size_t, unsigned>> holders;
  for (const auto& [uid, ports] : listeners_in(range)) holders.emplace_back(ports.size(), uid);
  std::sort(holders.rbegin(), holders.rend());
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNamed, holders.size()); ++i)
    text += fmt::format("{}uid {} listens on {}", text.empty() ? "" : ", ", holders[i].second,
                        holders[i].first);
  return text.empty() ? "" : "; of these " + text;
}

std::uint16_t port_of(const Fd& bound) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  if (::getsockname(bound.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) return 0;
  return ntohs(at.sin_port);
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
                  "leased to another job or in use{}; wait for one to end. `ss -lntx` lists the "
                  "listening ports and the leases (@lockstep-port-N)",
                  range.first, range.last, ephemeral.first, ephemeral.last, who_listens_in(range)));
}

// Leases a port. The kernel never chooses a port that another lease has bound, so the name is not
// needed to separate leases; it only shows in `ss`.
Result<PortLease> PortLease::acquire_or_any(PortRange preferred) {
  auto in_range = acquire(preferred);
  if (in_range) return in_range;
  constexpr int kTries = 16;
  std::vector<Fd> unsuitable;  // held, so that the kernel chooses another one
  for (int i = 0; i < kTries; ++i) {
    Fd bound = bind_without_listening(AF_INET, 0);
    const std::uint16_t number = bound ? port_of(bound) : std::uint16_t{0};
    if (number == 0) break;
    if (!somebody_listens(number)) return PortLease(number, take_name(number), std::move(bound));
    unsuitable.push_back(std::move(bound));
  }
  return in_range.error().within("the kernel has no free TCP port either");
}

bool PortLease::taken() const { return somebody_listens(port_); }

}  // namespace lockstep::io
