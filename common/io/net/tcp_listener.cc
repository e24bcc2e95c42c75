#include "common/io/net/tcp_listener.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace lockstep::io {
namespace {

constexpr int kWaitingConnections = 1'024;  // accepted by the kernel, and not by us yet

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

Result<AddressList> addresses_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (failed != 0)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("listen on {}: {}; name an address of this machine, or a name "
                                  "that resolves to one",
                                  host, ::gai_strerror(failed)));
  return AddressList(list);
}

// An io error keeps errno's text only; `number` says which it was.
Result<Fd> listen_at(const addrinfo& address, const std::string& shown, int* number) {
  const auto failed = [&] {
    *number = errno;
    return errno_error(*number, "listen on " + shown);
  };
  Fd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return failed();
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.ai_family == AF_INET6)
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0) return failed();
  if (::listen(fd.get(), kWaitingConnections) != 0) return failed();
  return fd;
}

bool is_absent_family(int number) { return number == EADDRNOTAVAIL || number == EAFNOSUPPORT; }

}  // namespace

Result<std::vector<Fd>> listen_tcp(const std::string& host, std::uint16_t port) {
  TRY_ASSIGN(const AddressList list, addresses_of(host, port));
  const std::string shown = fmt::format("{}:{}", host, port);
  std::vector<Fd> listeners;
  Error last = make_error(ErrorCode::invalid_argument, "listen on " + shown + ": no address");
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    int number = 0;
    Result<Fd> fd = listen_at(*each, shown, &number);
    // "localhost" may stand for ::1 on a machine without IPv6.
    if (!fd && !is_absent_family(number)) return std::move(fd).error();
    if (!fd) {
      last = std::move(fd).error();
      continue;
    }
    listeners.push_back(*std::move(fd));
    if (port == 0) break;
  }
  if (listeners.empty()) return last;
  return listeners;
}

Result<std::uint16_t> port_of(int listener) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return errno_error(errno, "find the port of a listening socket");
  if (at.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(at).sin_port);
  if (at.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(at).sin6_port);
  return make_error(ErrorCode::invalid_argument, "the listening socket is not a TCP socket");
}

Result<AcceptedStream> accept_stream(int listener) {
  for (;;) {
    AcceptedStream stream;
    stream.fd.reset(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (stream.fd) {
      const auto peer = peer_of(stream.fd.get());
      if (!peer) return stream;
      const int on = 1;
      ::setsockopt(stream.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      stream.peer = *peer;
      return stream;
    }
    const int number = errno;
    Error error = errno_error(number, "accept a connection");
    switch (number) {
      case EAGAIN: error.code = ErrorCode::unavailable; return error;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM: error.code = ErrorCode::resource_exhausted; return error;
      case EBADF:
      case EINVAL:
      case ENOTSOCK:
      case EOPNOTSUPP: return error;
      default: break;  // of that connection alone (accept(2)): the next one may be whole
    }
  }
}

}  // namespace lockstep::io
