#pragma once
// The TCP sockets of a network namespace as values: their ends, owner (inode), state and counters,
// from the kernel's answers to a sock_diag dump (sock_diag(7), linux/inet_diag.h) or, without
// counters, from /proc/PID/net/tcp and tcp6. Pure.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace lockstep::runner {

// An IPv4 address is kept as it is mapped into IPv6, so that both compare equal.
struct TcpAddress {
  std::array<std::uint8_t, 16> bytes{};
  bool is_any() const;
  bool is_loopback() const;
  friend auto operator<=>(const TcpAddress&, const TcpAddress&) = default;
};
// The address of "10.0.0.4" or "fe80::1"; nullopt: the text is not a numeric address.
std::optional<TcpAddress> tcp_address_from(const std::string& text);
std::string to_string(const TcpAddress& address);

struct TcpEnd {
  TcpAddress address;
  std::uint16_t port = 0;
  friend auto operator<=>(const TcpEnd&, const TcpEnd&) = default;
};
// "10.0.0.4:29500", "[fe80::1]:80"
std::string to_string(const TcpEnd& end);

enum class TcpState { established, connecting, listens, closing };

struct TcpSocket {
  TcpEnd near, far;
  TcpState state = TcpState::established;
  std::uint32_t inode = 0;  // 0: no process has it any more
  std::uint32_t uid = 0;
  std::uint32_t unread = 0;  // bytes; for a listening socket: connections that are not accepted yet
  std::uint32_t unsent = 0;  // bytes that were written and not acknowledged
  // Whether the next fields are known: they come from TCP_INFO, which /proc does not have.
  bool has_info = false;
  std::uint64_t acked = 0, received = 0;       // bytes since it was opened
  std::uint32_t unacked = 0, retransmits = 0;  // segments: now, and since it was opened
  Duration since_received{0};                  // the time since its last data came
  friend bool operator==(const TcpSocket&, const TcpSocket&) = default;
};
using TcpSockets = std::vector<TcpSocket>;

// Reads one message of a dump: an inet_diag_msg with its attributes, without the netlink header.
std::optional<TcpSocket> parse_tcp_diag(std::string_view message);

// Adds the sockets of a text of /proc/PID/net/tcp or tcp6, until there are `most`.
void parse_proc_net_tcp(std::string_view text, std::size_t most, TcpSockets* sockets);

}  // namespace lockstep::runner
