#include "common/io/net/reach.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "common/io/clock.h"
#include "common/io/file_system.h"
#include "common/io/net/link_state.h"
#include "common/io/net/transport.h"

namespace lockstep::io {
namespace {

constexpr const char* kDropped = "nothing comes back, so a firewall may drop it";
constexpr unsigned char kGreeting = 0xff;  // the first byte of ZMTP

// Waits for events. False: the descriptor is not ready in time.
bool is_ready(int fd, short events, Instant end) {
  SystemClock clock;
  const Duration left = std::max<Duration>(end - clock.now(), Duration::zero());
  pollfd item{fd, events, 0};
  return ::poll(&item, 1, static_cast<int>(std::chrono::ceil<milliseconds>(left).count())) > 0;
}

std::string said_of(int error) {
  switch (error) {
    case ECONNREFUSED: return "the connection is refused, so nobody listens there";
    case ETIMEDOUT: return kDropped;
    default: return std::string("the connection fails: ") + std::strerror(error);
  }
}

std::string dial_one(const addrinfo& address, Instant end) {
  const Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return said_of(errno);
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return said_of(errno);
    if (!is_ready(fd.get(), POLLOUT, end)) return kDropped;
    int error = 0;
    socklen_t size = sizeof error;
    (void)::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return said_of(error);
  }
  unsigned char first = 0;
  if (!is_ready(fd.get(), POLLIN, end) || ::recv(fd.get(), &first, 1, 0) <= 0)
    return "it accepts the connection, and says nothing";
  return first == kGreeting ? "" : "another program than a launcher answers there";
}

}  // namespace

std::string dial_trouble(const std::string& endpoint, Duration timeout) {
  constexpr std::string_view kTcp = "tcp://";
  const auto colon = endpoint.rfind(':');
  if (!endpoint.starts_with(kTcp) || colon <= kTcp.size())
    return "the address does not begin with tcp://HOST:";
  std::string host = endpoint.substr(kTcp.size(), colon - kTcp.size());
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const std::string port = endpoint.substr(colon + 1);
  if (const int failed = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list); failed != 0)
    return std::string("its name does not resolve: ") + ::gai_strerror(failed);
  SystemClock clock;
  const Instant end = clock.now() + timeout;
  std::string trouble = kDropped;
  for (const addrinfo* each = list; each != nullptr && !trouble.empty(); each = each->ai_next)
    trouble = dial_one(*each, end);
  ::freeaddrinfo(list);
  return trouble;
}

std::string why_not_connected(const std::string& endpoint, Duration timeout) {
  const std::string trouble = dial_trouble(endpoint, timeout);
  return trouble.empty() ? "it answers, and does not take the connection" : trouble;
}

bool wait_until_connected(const ClientSocket& socket, Duration timeout) {
  SystemClock clock;
  const Instant end = clock.now() + timeout;
  while (!is_connected(socket)) {
    const Duration left = end - clock.now();
    if (left <= Duration::zero()) return false;
    zmq_pollitem_t item{socket.handle(), 0, ZMQ_POLLOUT, 0};
    zmq_poll(&item, 1, static_cast<long>(std::chrono::ceil<milliseconds>(left).count()));
  }
  return true;
}

}  // namespace lockstep::io
