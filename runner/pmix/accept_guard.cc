#include "runner/pmix/accept_guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runner/pmix/peer.h"

namespace lockstep::pmix {
namespace {

constexpr int kMostListeners = 256;  // the most descriptors to look at
constexpr auto kProofTimeout = std::chrono::seconds(5);
constexpr auto kProofStep = std::chrono::microseconds(50);

struct Guard {
  PeerOwners owners;
  uid_t account;
  std::function<void(std::uint64_t, const std::string&)> turned_away;
  std::atomic<std::uint64_t> refused{0};
  // The port, in network order, from which prove_accept() connects; 0: none, or the guard has seen
  // it.
  std::atomic<std::uint32_t> proof{0};
};

// A C function has no object to find the guard in. The guard is never freed: libpmix's threads
// outlive main.
std::atomic<Guard*> the_guard{nullptr};

int really_accept(int listener, sockaddr* address, socklen_t* size, int flags) {
  return static_cast<int>(::syscall(SYS_accept4, listener, address, size, flags));
}

std::uint16_t port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return reinterpret_cast<const sockaddr_in&>(address).sin_port;
  if (address.ss_family == AF_INET6)
    return reinterpret_cast<const sockaddr_in6&>(address).sin6_port;
  return 0;
}

// Why a connection is refused; nullopt: it is accepted.
std::optional<std::string> refusal(const Guard& guard, int fd) {
  const auto owner = guard.owners.owner(fd);
  if (!owner) return owner.error().message;
  if (*owner == guard.account) return std::nullopt;
  return fmt::format("it is of uid {}", *owner);
}

int accept_guarded(Guard& guard, int listener, sockaddr* address, socklen_t* size, int flags) {
  sockaddr_storage from{};
  socklen_t from_size = sizeof from;
  const int fd = really_accept(listener, reinterpret_cast<sockaddr*>(&from), &from_size, flags);
  if (fd < 0) return fd;
  std::uint32_t expected = port_of(from);
  const bool is_proof = expected != 0 && guard.proof.compare_exchange_strong(expected, 0);
  const auto why = is_proof ? std::nullopt : refusal(guard, fd);
  if (is_proof || why) {
    ::close(fd);
    const std::uint64_t count = why ? ++guard.refused : 0;
    if (std::has_single_bit(count)) guard.turned_away(count, *why);
    errno = ECONNABORTED;  // libpmix then waits for the next connection
    return -1;
  }
  if (address != nullptr && size != nullptr) {
    std::memcpy(address, &from, std::min(*size, from_size));
    *size = from_size;
  }
  return fd;
}

struct Listener {
  int fd = -1;
  sockaddr_storage address{};
  socklen_t size = sizeof(sockaddr_storage);
};

std::vector<Listener> tcp_listeners() {
  std::vector<Listener> found;
  for (int fd = 0; fd < kMostListeners; ++fd) {
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    Listener listener{fd};
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&listener.address), &listener.size) == 0 &&
        port_of(listener.address) != 0)
      found.push_back(listener);
  }
  return found;
}

// The port is chosen before connecting, because the guard must know it by then.
Status connect_from_known_port(Guard& guard, const Listener& to, int fd) {
  sockaddr_storage ours{};
  ours.ss_family = to.address.ss_family;
  socklen_t size = to.size;
  auto* at = reinterpret_cast<sockaddr*>(&ours);
  if (::bind(fd, at, size) != 0 || ::getsockname(fd, at, &size) != 0)
    return errno_error(errno, "bind a TCP port");
  guard.proof = port_of(ours);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to.address), to.size) != 0)
    return errno_error(errno, "connect to libpmix's own port");
  return {};
}

Status prove(Guard& guard, const Listener& listener) {
  const int fd = ::socket(listener.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno_error(errno, "make a TCP socket");
  Status proven = connect_from_known_port(guard, listener, fd);
  const auto until = std::chrono::steady_clock::now() + kProofTimeout;
  while (proven && guard.proof != 0) {
    if (std::chrono::steady_clock::now() > until)
      proven =
          make_error(ErrorCode::internal,
                     "libpmix accepts connections past lockstep-pmix, so every account of this "
                     "machine could join the job; use libpmix 4.2");
    else
      std::this_thread::sleep_for(kProofStep);
  }
  guard.proof = 0;
  ::close(fd);
  return proven;
}

}  // namespace

Status guard_accept(std::function<void(std::uint64_t, const std::string&)> turned_away) {
  TRY_ASSIGN(const PeerOwners owners, PeerOwners::find_out());
  the_guard = new Guard{owners, ::geteuid(), std::move(turned_away)};
  return {};
}

Status prove_accept() {
  const std::vector<Listener> listeners = tcp_listeners();
  if (listeners.empty()) return make_error(ErrorCode::internal, "libpmix listens on no TCP port");
  for (const Listener& listener : listeners) TRY(prove(*the_guard.load(), listener));
  return {};
}

}  // namespace lockstep::pmix

extern "C" {

int accept(int listener, sockaddr* __restrict address, socklen_t* __restrict size) {
  using namespace lockstep::pmix;
  Guard* const guard = the_guard;
  if (guard == nullptr) return really_accept(listener, address, size, 0);
  return accept_guarded(*guard, listener, address, size, 0);
}

int accept4(int listener, sockaddr* __restrict address, socklen_t* __restrict size, int flags) {
  using namespace lockstep::pmix;
  Guard* const guard = the_guard;
  if (guard == nullptr) return really_accept(listener, address, size, flags);
  return accept_guarded(*guard, listener, address, size, flags);
}
}
