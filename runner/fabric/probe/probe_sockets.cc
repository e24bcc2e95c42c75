#include "runner/fabric/probe/probe_sockets.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/io/process.h"

namespace lockstep::runner {
namespace {

constexpr int kBacklog = 4'096;

sockaddr_in anywhere(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  return address;
}

Result<io::Fd> bound_socket(std::uint16_t port, bool beside) {
  io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return errno_error(errno, "socket for the probe");
  const int on = 1;
  if (beside) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = anywhere(port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return errno_error(errno, "bind port " + std::to_string(port) + " for the probe");
  return fd;
}

sockaddr_in own_name(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return address;
}

}  // namespace

std::optional<sockaddr_in> ipv4(const std::string& address, std::uint16_t port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return std::nullopt;
  return to;
}

Result<io::Fd> listen_on(std::uint16_t port, bool beside) {
  TRY_ASSIGN(io::Fd fd, bound_socket(port, beside));
  if (::listen(fd.get(), kBacklog) != 0)
    return errno_error(errno, "listen on port " + std::to_string(port) + " for the probe");
  return fd;
}

std::uint16_t port_of_socket(int fd) { return ntohs(own_name(fd).sin_port); }

std::string address_of_socket(int fd) {
  const sockaddr_in own = own_name(fd);
  char text[INET_ADDRSTRLEN] = {};
  if (own.sin_addr.s_addr == htonl(INADDR_ANY)) return "";
  return inet_ntop(AF_INET, &own.sin_addr, text, sizeof text) != nullptr ? text : "";
}

io::Fd dial(const sockaddr_in& to, int* error) {
  io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  *error = 0;
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    *error = errno;
  return fd;
}

void send_segments_at_once(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int overhead_of(int fd) {
  constexpr int kHeads = 20 + 20, kTimestamps = 12;
  tcp_info info{};
  socklen_t size = sizeof info;
  const bool is_known = ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  return is_known && (info.tcpi_options & TCPI_OPT_TIMESTAMPS) == 0 ? kHeads : kHeads + kTimestamps;
}

std::string fresh_nonce() {
  std::string nonce;
  while (nonce.size() < kTalkNonceBytes) {
    const std::uint64_t word = io::random_u64();
    nonce.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return nonce.substr(0, kTalkNonceBytes);
}

// ---- many sockets ------------------------------------------------------------------------------

SocketSet::SocketSet(io::EventLoop& loop, Ready ready)
    : loop_(loop), ready_(std::move(ready)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_) loop_.watch(epoll_.get(), io::EventLoop::Interest::read, [this] { turn(); });
}

SocketSet::~SocketSet() {
  if (epoll_) loop_.unwatch(epoll_.get(), io::EventLoop::Interest::read);
}

void SocketSet::watch(int fd, std::uint64_t id, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0 && errno == EEXIST)
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

// Handles one batch of events per turn, so that the loop can do its other work.
void SocketSet::turn() {
  std::array<epoll_event, 256> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event event = events[static_cast<std::size_t>(i)];
    ready_(event.data.u64, event.events);
  }
}

}  // namespace lockstep::runner
