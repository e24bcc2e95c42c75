// accept4() as libzmq calls it. libzmq accepts TCP connections by itself without a limit, and spins
// when descriptors run out; it has no option for either. So this program defines accept4 itself,
// and asks the listener's Admission before libzmq gets the connection. Everything here runs on
// libzmq's I/O thread, which also closes these descriptors, so a descriptor that is open stays open
// until this returns. Alternatives: decision 027.

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>

#include "common/base/check.h"
#include "common/io/net/admission.h"
#include "common/io/net/backlog.h"

namespace lockstep::io {
namespace {

std::optional<Admission::Peer> peer_at(const sockaddr_storage& from, socklen_t size) {
  char host[NI_MAXHOST];
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&from), size, host, sizeof host, nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return std::nullopt;
  if (from.ss_family == AF_INET)
    return Admission::Peer{host, reinterpret_cast<const sockaddr_in&>(from).sin_port};
  if (from.ss_family == AF_INET6)
    return Admission::Peer{host, reinterpret_cast<const sockaddr_in6&>(from).sin6_port};
  return std::nullopt;
}

// The guarded ports of this process. A C function has no object to find them in, so this folder has
// one static.
struct Listeners {
  std::mutex mutex;
  std::map<std::uint16_t, std::shared_ptr<Admission>> by_port;
  int spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
};
Listeners& listeners() {
  static Listeners* const all = new Listeners;  // never freed: libzmq's threads may outlive main
  return *all;
}

std::shared_ptr<Admission> admission_of(int listener) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0) return nullptr;
  std::uint16_t port = 0;
  if (at.ss_family == AF_INET) port = ntohs(reinterpret_cast<const sockaddr_in&>(at).sin_port);
  if (at.ss_family == AF_INET6) port = ntohs(reinterpret_cast<const sockaddr_in6&>(at).sin6_port);
  if (port == 0) return nullptr;
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_port.find(port);
  return found == all.by_port.end() ? nullptr : found->second;
}

int really_accept(int listener, sockaddr* address, socklen_t* size, int flags) {
  return static_cast<int>(::syscall(SYS_accept4, listener, address, size, flags));
}

// When descriptors have run out, a connection that cannot be accepted would stay pending, and wake
// the thread again and again. So one is accepted and closed.
void turn_one_away(int listener) {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  if (all.spare < 0) return;
  ::close(all.spare);
  const int fd = really_accept(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) ::close(fd);
  all.spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int accept_guarded(Admission& admission, int listener, sockaddr* address, socklen_t* size,
                   int flags) {
  sockaddr_storage from{};
  socklen_t from_size = sizeof from;
  const int fd = really_accept(listener, reinterpret_cast<sockaddr*>(&from), &from_size, flags);
  if (fd < 0) {
    const int error = errno;
    if (error == EMFILE || error == ENFILE) turn_one_away(listener);
    errno = error;
    return -1;
  }
  if (const auto peer = peer_at(from, from_size)) {
    const auto verdict = admission.arrived({fd, *peer});
    for (const auto& other : verdict.shut) ::shutdown(other.fd, SHUT_RDWR);
    if (!verdict.admitted) {
      ::close(fd);
      errno = ECONNABORTED;
      return -1;
    }
  }
  process_backlog().opened(fd);
  if (address != nullptr && size != nullptr) {
    const socklen_t room = *size < from_size ? *size : from_size;
    __builtin_memcpy(address, &from, room);
    *size = from_size;
  }
  return fd;
}

}  // namespace

ListenerGuard::ListenerGuard(std::uint16_t port, std::shared_ptr<Admission> admission)
    : port_(port) {
  const std::lock_guard lock(listeners().mutex);
  listeners().by_port[port] = std::move(admission);
}

ListenerGuard::~ListenerGuard() {
  const std::lock_guard lock(listeners().mutex);
  listeners().by_port.erase(port_);
}

std::optional<Admission::Peer> peer_of(int fd) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&from), &size) != 0) return std::nullopt;
  return peer_at(from, size);
}

bool is_still_connected(const Admission::Connection& connection) {
  const auto peer = peer_of(connection.fd);
  return peer && *peer == connection.peer;
}

std::shared_ptr<Admission> make_admission() {
  rlimit files{};
  CHECK(::getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit(RLIMIT_NOFILE) failed");
  return std::make_shared<Admission>(Admission::limits_for(files.rlim_cur), is_still_connected);
}

void raise_open_files_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace lockstep::io

extern "C" int accept4(int listener, struct sockaddr* address, socklen_t* size, int flags) {
  using namespace lockstep::io;
  const auto admission = admission_of(listener);
  if (!admission) return really_accept(listener, address, size, flags);
  return accept_guarded(*admission, listener, address, size, flags);
}
