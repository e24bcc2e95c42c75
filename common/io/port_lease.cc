#include "common/io/port_lease.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
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

Fd bind_without_listening(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
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

// The table's rows: "  0: 0100007F:1F90 00000000:0000 0A …" (state 0A is LISTEN).
bool table_has_listener(const char* path, std::uint16_t port) {
  const auto text = read_file(path);
  if (!text) return false;
  const std::string wanted = fmt::format(":{:04X} ", port);
  std::size_t line = 0;
  while (line < text->size()) {
    std::size_t end = text->find('\n', line);
    if (end == std::string::npos) end = text->size();
    const std::string_view row(text->data() + line, end - line);
    line = end + 1;
    const std::size_t local = row.find(wanted);
    if (local == std::string_view::npos) continue;
    const std::size_t remote_end = row.find(' ', local + wanted.size());
    if (remote_end == std::string_view::npos) continue;
    // The first match may also be the remote address: then what follows is a state, not "host:port".
    if (row.substr(local + wanted.size(), remote_end - local - wanted.size()).find(':') ==
        std::string_view::npos) {
      continue;
    }
    if (row.substr(remote_end + 1, 2) == "0A") return true;
  }
  return false;
}

bool somebody_listens(std::uint16_t port) {
  return table_has_listener("/proc/net/tcp", port) || table_has_listener("/proc/net/tcp6", port);
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
    Fd bound = bind_without_listening(number);
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
