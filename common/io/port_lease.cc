#include "common/io/port_lease.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace lockstep::io {
namespace {

// Lock files are never deleted: two holders of two files of one name would both be right. They
// belong to whoever came first, and fs.protected_regular refuses O_CREAT on another user's file.
Fd open_lock_file(const std::string& path) {
  for (int round = 0; round < 2; ++round) {
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (fd || errno != ENOENT) return fd;
    fd.reset(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (fd || errno != EEXIST) return fd;
  }
  return Fd();
}

// Binds every address of the family, without listening. Fails where somebody listens, or holds the
// port without SO_REUSEADDR; other leases and their probes do not stand in the way.
Fd bind_without_listening(int family, std::uint16_t port) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
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

PortRange kernel_range() {
  PortRange range{32768, 60999};
  const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range");
  unsigned first = 0, last = 0;
  if (text && std::sscanf(text->c_str(), "%u %u", &first, &last) == 2) {
    range = {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)};
  }
  return range;
}

Status prepare_lock_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) {
    // The umask has cut the mode; the sticky bit keeps users from removing each other's locks.
    if (::chmod(path.c_str(), 01777) != 0) return errno_error(errno, "chmod " + path);
    return {};
  }
  if (errno == EEXIST) return {};
  return errno_error(errno, "make the directory of port locks " + path);
}

}  // namespace

PortLease::PortLease(std::uint16_t port, Fd lock, Fd bound)
    : port_(port), lock_(std::move(lock)), bound_(std::move(bound)) {}

Result<PortLease> PortLease::acquire(const std::string& lock_directory, PortRange range) {
  TRY(prepare_lock_directory(lock_directory));
  const PortRange ephemeral = kernel_range();
  for (std::uint32_t port = range.first; port <= range.last; ++port) {
    if (port >= ephemeral.first && port <= ephemeral.last) continue;
    const auto number = static_cast<std::uint16_t>(port);
    Fd lock = open_lock_file(lock_directory + "/" + std::to_string(port));
    if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    Fd bound = bind_without_listening(AF_INET, number);
    if (!bound || somebody_listens(number)) continue;
    return PortLease(number, std::move(lock), std::move(bound));
  }
  return make_error(
      ErrorCode::resource_exhausted,
      fmt::format("no free TCP port in {}-{} (outside the kernel's own range {}-{}; locks in {}): "
                  "each is leased to another job or in use; wait for one to end",
                  range.first, range.last, ephemeral.first, ephemeral.last, lock_directory));
}

bool PortLease::taken() const { return somebody_listens(port_); }

std::string port_lock_directory() {
  struct stat status {};
  const bool known = ::stat("/proc/self/ns/net", &status) == 0;
  return fmt::format("/tmp/lockstep-ports-{}", known ? status.st_ino : 0);
}

}  // namespace lockstep::io
