// Who owns the other end of a TCP connection, and of what is none any more.

#include "runner/pmix/peer.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/io/file_system.h"

namespace lockstep::pmix {
namespace {

class PeerTest : public testing::TestWithParam<PeerOwners::Way> {
 protected:
  PeerTest() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    auto* at = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(listener_.get(), at, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), at, &size), 0);
  }
  io::Fd connected() const {
    io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_),
              0);
    return fd;
  }
  io::Fd accepted() const { return io::Fd(::accept(listener_.get(), nullptr, nullptr)); }

  io::Fd listener_;
  sockaddr_in address_{};
  const PeerOwners owners_{GetParam()};
};

TEST_P(PeerTest, OursIsOurs) {
  const io::Fd client = connected(), server = accepted();
  EXPECT_EQ(owners_.owner(server.get()), ::geteuid());
}

// Whoever made the socket owns it, and not whoever holds it now.
TEST_P(PeerTest, AnothersIsAnothers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change ids";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::setresuid(12345, 12345, 12345) != 0) ::_exit(1);
    const io::Fd client = connected();
    ::pause();
  }
  const io::Fd server = accepted();
  EXPECT_EQ(owners_.owner(server.get()), 12345U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

// The kernel says 0 of a socket that nobody holds any more.
TEST_P(PeerTest, NobodyOwnsWhatIsClosed) {
  connected().reset();
  const io::Fd closed = accepted();
  EXPECT_FALSE(owners_.owner(closed.get()));
  io::Fd client = connected();
  const linger at_once{1, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  client.reset();  // with a reset
  const io::Fd reset = accepted();
  EXPECT_FALSE(owners_.owner(reset.get()));
}

TEST_P(PeerTest, OtherDescriptorsHaveNoPeer) {
  EXPECT_FALSE(owners_.owner(listener_.get()));
  EXPECT_FALSE(owners_.owner(-1));
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_FALSE(owners_.owner(pair[0]));
  ::close(pair[0]);
  ::close(pair[1]);
}

TEST(PeerOwnersTest, AWayIsFound) { EXPECT_TRUE(PeerOwners::find_out()); }

INSTANTIATE_TEST_SUITE_P(Ways, PeerTest,
                         testing::Values(PeerOwners::Way::diag, PeerOwners::Way::proc),
                         [](const auto& way) {
                           return way.param == PeerOwners::Way::diag ? "diag" : "proc";
                         });

}  // namespace
}  // namespace lockstep::pmix
