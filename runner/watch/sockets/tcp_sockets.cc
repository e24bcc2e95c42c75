#include "runner/watch/sockets/tcp_sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace lockstep::runner {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
// The kernel's numbers (net/tcp_states.h).
constexpr int kEstablished = 1, kSynSent = 2, kSynReceived = 3, kListen = 10;
constexpr std::uint16_t kAttributeType = 0x3fff;  // the type without its flags

bool is_mapped(const TcpAddress& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin());
}

TcpAddress tcp_address_of(int family, const void* raw) {
  TcpAddress address;
  if (family == AF_INET) {
    std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
    std::memcpy(address.bytes.data() + kMapped.size(), raw, 4);
  } else {
    std::memcpy(address.bytes.data(), raw, address.bytes.size());
  }
  return address;
}

TcpState tcp_state_of(int number) {
  if (number == kEstablished) return TcpState::established;
  if (number == kSynSent || number == kSynReceived) return TcpState::connecting;
  return number == kListen ? TcpState::listens : TcpState::closing;
}

// The structure grows with newer kernels; a field that is missing stays 0.
template <typename Number>
Number info_field(std::string_view info, std::size_t offset) {
  Number value = 0;
  if (offset + sizeof value <= info.size()) std::memcpy(&value, info.data() + offset, sizeof value);
  return value;
}

void take_tcp_info(std::string_view info, TcpSocket* socket) {
  socket->has_info = info.size() >= offsetof(tcp_info, tcpi_segs_out);
  socket->acked = info_field<std::uint64_t>(info, offsetof(tcp_info, tcpi_bytes_acked));
  socket->received = info_field<std::uint64_t>(info, offsetof(tcp_info, tcpi_bytes_received));
  socket->unacked = info_field<std::uint32_t>(info, offsetof(tcp_info, tcpi_unacked));
  socket->retransmits = info_field<std::uint32_t>(info, offsetof(tcp_info, tcpi_total_retrans));
  socket->since_received =
      milliseconds(info_field<std::uint32_t>(info, offsetof(tcp_info, tcpi_last_data_recv)));
}

// ---- /proc/net/tcp

std::string_view next_column(std::string_view& line) {
  const std::size_t from = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(from);
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view column = line.substr(0, end);
  line.remove_prefix(end);
  return column;
}

template <typename Number>
bool read_hex(std::string_view digits, Number* out) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *out, 16);
  return error == std::errc() && end == digits.data() + digits.size();
}

// "0100007F:1F90": the words of the address in memory order, and the port.
std::optional<TcpEnd> parse_hex_end(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  TcpEnd end;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t word = 0; word < colon / 8; ++word)
    if (!read_hex(text.substr(word * 8, 8), &words[word])) return std::nullopt;
  end.address = tcp_address_of(colon == 8 ? AF_INET : AF_INET6, words.data());
  if (!read_hex(text.substr(colon + 1), &end.port)) return std::nullopt;
  return end;
}

// The columns as the kernel's tcp4_seq_show prints them.
std::optional<TcpSocket> parse_tcp_line(std::string_view line) {
  next_column(line);  // skips the line's number
  const auto near = parse_hex_end(next_column(line)), far = parse_hex_end(next_column(line));
  int state = 0;
  if (!near || !far || !read_hex(next_column(line), &state)) return std::nullopt;
  TcpSocket socket;
  socket.near = *near;
  socket.far = *far;
  socket.state = tcp_state_of(state);
  const std::string_view queues = next_column(line);
  const std::size_t colon = queues.find(':');
  if (colon == queues.npos || !read_hex(queues.substr(0, colon), &socket.unsent) ||
      !read_hex(queues.substr(colon + 1), &socket.unread))
    return std::nullopt;
  next_column(line);  // skips the timer
  next_column(line);  // skips the timer's retransmissions
  const auto decimal = [&line](std::uint32_t* out) {
    const std::string_view digits = next_column(line);
    return std::from_chars(digits.data(), digits.data() + digits.size(), *out).ec == std::errc();
  };
  std::uint32_t timeout = 0;
  if (!decimal(&socket.uid) || !decimal(&timeout) || !decimal(&socket.inode)) return std::nullopt;
  return socket;
}

}  // namespace

bool TcpAddress::is_any() const {
  const std::size_t from = is_mapped(*this) ? kMapped.size() : 0;
  return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(),
                     [](std::uint8_t byte) { return byte == 0; });
}

bool TcpAddress::is_loopback() const {
  if (is_mapped(*this)) return bytes[12] == 127;
  return std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t b) { return b == 0; }) &&
         bytes[15] == 1;
}

std::optional<TcpAddress> tcp_address_from(const std::string& text) {
  std::array<std::uint8_t, 16> raw{};
  const int family = text.find(':') == text.npos ? AF_INET : AF_INET6;
  if (inet_pton(family, text.c_str(), raw.data()) != 1) return std::nullopt;
  return tcp_address_of(family, raw.data());
}

std::string to_string(const TcpAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const bool is_v4 = is_mapped(address);
  const std::uint8_t* raw = address.bytes.data() + (is_v4 ? kMapped.size() : 0);
  return inet_ntop(is_v4 ? AF_INET : AF_INET6, raw, text, sizeof text) == nullptr ? "" : text;
}

std::string to_string(const TcpEnd& end) {
  const std::string address = to_string(end.address);
  return address.find(':') == address.npos ? fmt::format("{}:{}", address, end.port)
                                           : fmt::format("[{}]:{}", address, end.port);
}

std::optional<TcpSocket> parse_tcp_diag(std::string_view message) {
  inet_diag_msg head{};
  if (message.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, message.data(), sizeof head);
  if (head.idiag_family != AF_INET && head.idiag_family != AF_INET6) return std::nullopt;
  TcpSocket socket;
  socket.near = {tcp_address_of(head.idiag_family, head.id.idiag_src), ntohs(head.id.idiag_sport)};
  socket.far = {tcp_address_of(head.idiag_family, head.id.idiag_dst), ntohs(head.id.idiag_dport)};
  socket.state = tcp_state_of(head.idiag_state);
  socket.inode = head.idiag_inode;
  socket.uid = head.idiag_uid;
  socket.unread = head.idiag_rqueue;
  socket.unsent = head.idiag_wqueue;
  std::size_t at = NLMSG_ALIGN(sizeof head);
  while (at + sizeof(rtattr) <= message.size()) {
    rtattr attribute{};
    std::memcpy(&attribute, message.data() + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || attribute.rta_len > message.size() - at) break;
    if ((attribute.rta_type & kAttributeType) == INET_DIAG_INFO)
      take_tcp_info(message.substr(at + RTA_LENGTH(0), attribute.rta_len - RTA_LENGTH(0)), &socket);
    at += RTA_ALIGN(attribute.rta_len);
  }
  return socket;
}

void parse_proc_net_tcp(std::string_view text, std::size_t most, TcpSockets* sockets) {
  bool is_heading = true;
  while (!text.empty() && sockets->size() < most) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!is_heading)
      if (auto socket = parse_tcp_line(text.substr(0, end))) sockets->push_back(*socket);
    is_heading = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace lockstep::runner
