#include "runner/pmix/peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

namespace lockstep::pmix {
namespace {

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Address {
  int family = AF_UNSPEC;
  std::array<std::uint32_t, 4> ip{};  // in network order; one word for IPv4
  std::uint16_t port = 0;             // port number in network order
};

Address address_of(const sockaddr_storage& storage) {
  Address address{storage.ss_family};
  if (storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(storage);
    address.ip[0] = in.sin_addr.s_addr;
    address.port = in.sin_port;
  } else if (storage.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(storage);
    std::memcpy(address.ip.data(), &in.sin6_addr, sizeof address.ip);
    address.port = in.sin6_port;
  }
  return address;
}

// The ends of a connection, seen from the peer.
struct Ends {
  Address local, remote;
};

std::optional<Ends> ends_of_peer(int fd) {
  sockaddr_storage ours{}, theirs{};
  socklen_t our_size = sizeof ours, their_size = sizeof theirs;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&ours), &our_size) != 0 ||
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&theirs), &their_size) != 0)
    return std::nullopt;
  const Ends ends{address_of(theirs), address_of(ours)};
  const bool is_ip = ends.local.family == AF_INET || ends.local.family == AF_INET6;
  return is_ip ? std::optional(ends) : std::nullopt;
}

bool is_established(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_ESTABLISHED;
}

// ---- sock_diag(7): one socket, by its two ends

struct Request {
  nlmsghdr head;
  inet_diag_req_v2 body;
};

Request request_for(const Ends& ends) {
  Request request{};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.head.nlmsg_flags = NLM_F_REQUEST;
  request.body.sdiag_family = static_cast<std::uint8_t>(ends.local.family);
  request.body.sdiag_protocol = IPPROTO_TCP;
  request.body.idiag_states = ~0U;
  inet_diag_sockid& id = request.body.id;
  id.idiag_sport = ends.local.port;
  id.idiag_dport = ends.remote.port;
  std::memcpy(id.idiag_src, ends.local.ip.data(), sizeof id.idiag_src);
  std::memcpy(id.idiag_dst, ends.remote.ip.data(), sizeof id.idiag_dst);
  id.idiag_cookie[0] = id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

// Whether an answer is about the connection. When it is gone, the kernel may return a listener of
// that port.
bool is_answer_to(const Request& request, const inet_diag_msg& found) {
  const inet_diag_sockid& asked = request.body.id;
  return found.idiag_state == TCP_ESTABLISHED && found.id.idiag_sport == asked.idiag_sport &&
         found.id.idiag_dport == asked.idiag_dport &&
         std::memcmp(found.id.idiag_src, asked.idiag_src, sizeof asked.idiag_src) == 0 &&
         std::memcmp(found.id.idiag_dst, asked.idiag_dst, sizeof asked.idiag_dst) == 0;
}

std::optional<uid_t> ask_diag(const Ends& ends) {
  const Socket netlink(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink) return std::nullopt;
  const Request request = request_for(ends);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (::sendto(netlink.get(), &request, sizeof request, 0,
               reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) != sizeof request)
    return std::nullopt;
  alignas(nlmsghdr) std::array<char, 4096> answer;
  ssize_t length = 0;
  do {
    length = ::recv(netlink.get(), answer.data(), answer.size(), 0);
  } while (length < 0 && errno == EINTR);
  nlmsghdr head{};
  inet_diag_msg found{};
  if (length < static_cast<ssize_t>(NLMSG_LENGTH(sizeof found))) return std::nullopt;
  std::memcpy(&head, answer.data(), sizeof head);
  std::memcpy(&found, answer.data() + NLMSG_HDRLEN, sizeof found);
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || !is_answer_to(request, found)) return std::nullopt;
  return found.idiag_uid;
}

// ---- /proc/net/tcp: a line for each socket

// "0100007F:1F90": each word of the address in the machine's byte order, and the port.
std::string hex_of(const Address& address) {
  std::string text;
  char word[16];
  const std::size_t words = address.family == AF_INET ? 1 : 4;
  for (std::size_t i = 0; i < words; ++i) {
    std::snprintf(word, sizeof word, "%08X", address.ip[i]);
    text += word;
  }
  std::snprintf(word, sizeof word, ":%04X", ntohs(address.port));
  return text + word;
}

std::optional<uid_t> ask_proc(const Ends& ends) {
  std::ifstream table(ends.local.family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6");
  // State 01 is TCP_ESTABLISHED.
  const std::string wanted = ": " + hex_of(ends.local) + " " + hex_of(ends.remote) + " 01 ";
  for (std::string line; std::getline(table, line);) {
    const std::size_t at = line.find(wanted);  // the text follows the line's number
    unsigned uid = 0;
    if (at != line.npos &&
        std::sscanf(line.c_str() + at + wanted.size(), "%*s %*s %*s %u", &uid) == 1)
      return uid;
  }
  return std::nullopt;
}

// A connection of this process to itself.
class OwnConnection {
 public:
  OwnConnection()
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        client_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        accepted_(connect()) {}
  // -1: errno holds the reason
  int fd() const { return accepted_.get(); }

 private:
  int connect() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* at = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), at, size) != 0 || ::listen(listener_.get(), 1) != 0 ||
        ::getsockname(listener_.get(), at, &size) != 0 || ::connect(client_.get(), at, size) != 0)
      return -1;
    return ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
  }

  Socket listener_, client_, accepted_;
};

}  // namespace

Result<PeerOwners> PeerOwners::find_out() {
  const OwnConnection own;
  if (own.fd() < 0) return errno_error(errno, "connect to ourselves over the loopback interface");
  for (const Way way : {Way::diag, Way::proc})
    if (const auto found = PeerOwners(way).owner(own.fd()); found && *found == ::geteuid())
      return PeerOwners(way);
  return make_error(ErrorCode::unsupported,
                    "the kernel does not say who owns a TCP connection: load its module tcp_diag, "
                    "or mount /proc");
}

// The owner of the peer. While our end is established, so is the peer's, or it was when it last
// answered; and no other socket can have the same two ends. So our end is checked last.
Result<uid_t> PeerOwners::owner(int fd) const {
  const auto ends = ends_of_peer(fd);
  if (!ends)
    return make_error(ErrorCode::not_found, "it is not a connection over TCP, or has ended");
  const auto found = way_ == Way::diag ? ask_diag(*ends) : ask_proc(*ends);
  if (!found || !is_established(fd))
    return make_error(ErrorCode::not_found, "it has ended, or comes from elsewhere");
  return *found;
}

}  // namespace lockstep::pmix
