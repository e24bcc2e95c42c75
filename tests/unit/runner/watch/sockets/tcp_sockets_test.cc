// The kernel's TCP sockets as values, from made-up answers and from real ones.

#include "runner/watch/sockets/tcp_sockets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "common/io/file_system.h"
#include "runner/watch/sockets/socket_reader.h"

namespace lockstep::runner {
namespace {

std::string diag(const inet_diag_msg& head, const tcp_info* info, std::size_t info_size) {
  std::string message(reinterpret_cast<const char*>(&head), sizeof head);
  if (info == nullptr) return message;
  rtattr attribute{};
  attribute.rta_type = INET_DIAG_INFO;
  attribute.rta_len = static_cast<unsigned short>(RTA_LENGTH(0) + info_size);
  message.append(reinterpret_cast<const char*>(&attribute), sizeof attribute);
  message.append(reinterpret_cast<const char*>(info), info_size);
  return message;
}

inet_diag_msg v4_head() {
  inet_diag_msg head{};
  head.idiag_family = AF_INET;
  head.idiag_state = 1;
  head.id.idiag_sport = htons(40000);
  head.id.idiag_dport = htons(29500);
  head.id.idiag_src[0] = inet_addr("10.0.0.5");
  head.id.idiag_dst[0] = inet_addr("10.0.0.4");
  head.idiag_inode = 4711;
  head.idiag_uid = 1000;
  head.idiag_rqueue = 12;
  return head;
}

TEST(TcpSockets, AnAnswerOfTheKernelHasEndsAndCounters) {
  tcp_info info{};
  info.tcpi_bytes_acked = 1'000'000'000'000;
  info.tcpi_bytes_received = 7;
  info.tcpi_unacked = 3;
  info.tcpi_total_retrans = 9;
  info.tcpi_last_data_recv = 2500;
  const auto socket = parse_tcp_diag(diag(v4_head(), &info, sizeof info));
  ASSERT_TRUE(socket);
  EXPECT_EQ(to_string(socket->near), "10.0.0.5:40000");
  EXPECT_EQ(to_string(socket->far), "10.0.0.4:29500");
  EXPECT_EQ(socket->state, TcpState::established);
  EXPECT_EQ(socket->inode, 4711u);
  EXPECT_EQ(socket->unread, 12u);
  EXPECT_TRUE(socket->has_info);
  EXPECT_EQ(socket->acked, 1'000'000'000'000u);
  EXPECT_EQ(socket->received, 7u);
  EXPECT_EQ(socket->unacked, 3u);
  EXPECT_EQ(socket->retransmits, 9u);
  EXPECT_EQ(socket->since_received, milliseconds(2500));
}

TEST(TcpSockets, AnOlderKernelSaysLess) {
  tcp_info info{};
  info.tcpi_total_retrans = 9;
  const auto socket = parse_tcp_diag(diag(v4_head(), &info, offsetof(tcp_info, tcpi_pacing_rate)));
  ASSERT_TRUE(socket);
  EXPECT_FALSE(socket->has_info);
  EXPECT_EQ(socket->acked, 0u);
  EXPECT_EQ(socket->retransmits, 9u);
}

TEST(TcpSockets, WhatIsCutIsNoSocketOrHasNoCounters) {
  tcp_info info{};
  const std::string whole = diag(v4_head(), &info, sizeof info);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto socket = parse_tcp_diag(std::string_view(whole).substr(0, size));
    EXPECT_EQ(socket.has_value(), size >= sizeof(inet_diag_msg)) << size;
    EXPECT_FALSE(socket && socket->has_info) << size;
  }
}

TEST(TcpSockets, MappedAddressesAreTheSame) {
  const auto plain = tcp_address_from("10.0.0.4"), mapped = tcp_address_from("::ffff:10.0.0.4");
  ASSERT_TRUE(plain && mapped);
  EXPECT_EQ(*plain, *mapped);
  EXPECT_EQ(to_string(*mapped), "10.0.0.4");
  EXPECT_EQ(to_string(TcpEnd{*tcp_address_from("fe80::1"), 80}), "[fe80::1]:80");
  EXPECT_TRUE(tcp_address_from("127.1.2.3")->is_loopback());
  EXPECT_TRUE(tcp_address_from("::1")->is_loopback());
  EXPECT_FALSE(tcp_address_from("::2")->is_loopback());
  EXPECT_TRUE(tcp_address_from("0.0.0.0")->is_any());
  EXPECT_TRUE(tcp_address_from("::")->is_any());
  EXPECT_FALSE(tcp_address_from("n1.example"));
  EXPECT_FALSE(tcp_address_from(""));
}

TEST(TcpSockets, TheTextOfProcSaysTheSameWithoutCounters) {
  TcpSockets sockets;
  parse_proc_net_tcp(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
      "inode\n"
      "   0: 0500000A:9C40 0400000A:733C 01 00000010:00000004 00:00000000 00000000  1000        0 "
      "4711 1 0000000000000000 20 4 30 10 -1\n"
      "   1: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
      "99 1 0000000000000000 100 0 0 10 0\n"
      "   2: garbage\n",
      10, &sockets);
  ASSERT_EQ(sockets.size(), 2u);
  EXPECT_EQ(to_string(sockets[0].near), "10.0.0.5:40000");
  EXPECT_EQ(to_string(sockets[0].far), "10.0.0.4:29500");
  EXPECT_EQ(sockets[0].unsent, 16u);
  EXPECT_EQ(sockets[0].unread, 4u);
  EXPECT_EQ(sockets[0].uid, 1000u);
  EXPECT_EQ(sockets[0].inode, 4711u);
  EXPECT_FALSE(sockets[0].has_info);
  EXPECT_EQ(sockets[1].state, TcpState::listens);
  TcpSockets v6;
  parse_proc_net_tcp(
      "heading\n   0: 00000000000000000000000001000000:0050 "
      "00000000000000000000000001000000:1F90 02 00000000:00000000 00:0 0 5 0 7 1\n",
      10, &v6);
  ASSERT_EQ(v6.size(), 1u);
  EXPECT_EQ(to_string(v6[0].near), "[::1]:80");
  EXPECT_EQ(v6[0].state, TcpState::connecting);
}

// A listening socket on loopback and a connection to it.
class Connected {
 public:
  Connected() {
    listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    near_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    is_made_ = ::bind(listener_.get(), raw, size) == 0 && ::listen(listener_.get(), 1) == 0 &&
               ::getsockname(listener_.get(), raw, &size) == 0 &&
               ::connect(near_.get(), raw, size) == 0;
    far_.reset(::accept(listener_.get(), nullptr, nullptr));
    port = ntohs(address.sin_port);
  }
  bool is_made() const { return is_made_ && far_; }
  int near() const { return near_.get(); }
  int far() const { return far_.get(); }
  static std::uint64_t inode(int fd) {
    struct stat info {};
    return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
  }

  std::uint16_t port = 0;

 private:
  io::Fd listener_, near_, far_;
  bool is_made_ = false;
};

TEST(SocketReader, SeesAConnectionAndWhatItCarried) {
  const Connected pair;
  ASSERT_TRUE(pair.is_made());
  ASSERT_EQ(::write(pair.near(), "hello", 5), 5);
  SocketReader reader;
  const auto sockets = reader.read(::getpid());
  ASSERT_TRUE(sockets) << sockets.error().message;
  const TcpSocket* near = nullptr;
  const TcpSocket* far = nullptr;
  for (const TcpSocket& socket : *sockets) {
    if (socket.inode == Connected::inode(pair.near())) near = &socket;
    if (socket.inode == Connected::inode(pair.far())) far = &socket;
  }
  ASSERT_NE(near, nullptr);
  ASSERT_NE(far, nullptr);
  EXPECT_EQ(near->far.port, pair.port);
  EXPECT_EQ(near->near, far->far);
  EXPECT_EQ(far->unread, 5u);
  if (far->has_info) {
    EXPECT_EQ(far->received, 5u);
  }
}

TEST(SocketReader, AProcessThatIsNotThereHasNone) {
  SocketReader reader;
  EXPECT_FALSE(reader.read(0x7ffffff0));
}

}  // namespace
}  // namespace lockstep::runner
