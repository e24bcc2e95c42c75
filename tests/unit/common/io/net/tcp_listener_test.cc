#include "common/io/net/tcp_listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

Fd connect_to_loopback(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

TEST(TcpListener, AcceptsAndNamesThePeer) {
  auto listeners = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(listeners) << listeners.error().message;
  ASSERT_EQ(listeners->size(), 1U);
  const int listener = listeners->front().get();
  const auto port = port_of(listener);
  ASSERT_TRUE(port);
  EXPECT_EQ(accept_stream(listener).error().code, ErrorCode::unavailable);
  const Fd client = connect_to_loopback(*port);
  const auto accepted = accept_stream(listener);
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->peer.address, "127.0.0.1");
  const Admission::Connection connection{accepted->fd.get(), accepted->peer};
  EXPECT_TRUE(is_still_connected(connection));
  EXPECT_FALSE(is_still_connected({listener, accepted->peer})) << "of another descriptor";
}

TEST(TcpListener, SaysWhichAddressIsTaken) {
  auto first = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const auto port = port_of(first->front().get());
  ASSERT_TRUE(port);
  const auto second = listen_tcp("127.0.0.1", *port);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("127.0.0.1:" + std::to_string(*port)), std::string::npos)
      << second.error().message;
}

TEST(TcpListener, ANameThatIsNobodysIsRefused) {
  const auto listeners = listen_tcp("no-such-host.invalid", 0);
  ASSERT_FALSE(listeners);
  EXPECT_EQ(listeners.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace lockstep::io
