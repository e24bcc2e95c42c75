#include "common/io/net/port_lease.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <set>
#include <thread>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

constexpr PortRange kRange{29100, 29139};

// What a job's rank 0 does: bind with SO_REUSEADDR and listen.
Fd listen_on(std::uint16_t port, int family = AF_INET) {
  Fd fd(::socket(family, SOCK_STREAM, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const bool is_v4 = family == AF_INET;
  const auto* address = is_v4 ? reinterpret_cast<sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6);
  const socklen_t size = is_v4 ? sizeof v4 : sizeof v6;
  if (::bind(fd.get(), address, size) != 0 || ::listen(fd.get(), 1) != 0) fd.reset();
  return fd;
}

TEST(PortLeaseTest, TheHolderOfALeaseCanListenAndIsSeen) {
  const auto lease = PortLease::acquire(kRange);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_FALSE(lease->taken());
  const Fd listener = listen_on(lease->port());
  ASSERT_TRUE(listener) << "a held port must not keep the user's program from listening";
  EXPECT_TRUE(lease->taken());
}

TEST(PortLeaseTest, SeesAListenerOnIpv6) {
  const auto lease = PortLease::acquire(kRange);
  ASSERT_TRUE(lease);
  const Fd listener = listen_on(lease->port(), AF_INET6);
  if (!listener) GTEST_SKIP() << "this host has no IPv6";
  EXPECT_TRUE(lease->taken());
}

TEST(PortLeaseTest, GivesNoPortTwiceAndSaysWhenNoneIsLeft) {
  std::vector<PortLease> leases;
  std::set<int> ports;
  for (;;) {
    auto lease = PortLease::acquire(kRange);
    if (!lease) {
      EXPECT_EQ(lease.error().code, ErrorCode::resource_exhausted);
      break;
    }
    leases.push_back(*std::move(lease));
    EXPECT_TRUE(ports.insert(leases.back().port()).second);
    ASSERT_LE(ports.size(), 40u);
  }
  EXPECT_GE(ports.size(), 30u);  // a stranger may hold a few
  leases.erase(leases.begin());
  EXPECT_TRUE(PortLease::acquire(kRange)) << "a dropped lease is free again";
}

// Any account can take all names: a port that nobody has bound is free nevertheless.
TEST(PortLeaseTest, NamesAloneTakeNoPort) {
  constexpr PortRange kFew{29140, 29144};
  std::vector<Fd> names;
  for (int port = kFew.first; port <= kFew.last; ++port) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "lockstep-port-" + std::to_string(port);
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    names.emplace_back(::socket(AF_UNIX, SOCK_DGRAM, 0));
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    ASSERT_EQ(::bind(names.back().get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  }
  const Fd listener = listen_on(kFew.first);
  std::vector<PortLease> leases;
  std::set<int> ports;
  for (;;) {
    auto lease = PortLease::acquire(kFew);
    if (!lease) break;
    leases.push_back(*std::move(lease));
    ASSERT_TRUE(ports.insert(leases.back().port()).second) << "given twice";
    EXPECT_FALSE(leases.back().taken());
  }
  EXPECT_EQ(ports, (std::set<int>{29141, 29142, 29143, 29144}));
  EXPECT_TRUE(listen_on(leases[0].port())) << "its holder can listen";
}

TEST(PortLeaseTest, SkipsAPortOnWhichAStrangerListens) {
  std::uint16_t first = 0;
  {
    const auto lease = PortLease::acquire(kRange);
    ASSERT_TRUE(lease);
    first = lease->port();
  }
  const Fd stranger = listen_on(first);
  ASSERT_TRUE(stranger);
  const auto lease = PortLease::acquire(kRange);
  ASSERT_TRUE(lease);
  EXPECT_NE(lease->port(), first);
}

TEST(PortLeaseTest, WhereStrangersHoldTheRangeTheKernelGivesAPort) {
  constexpr PortRange kFew{29146, 29148};
  std::vector<Fd> strangers;
  for (std::uint16_t port = kFew.first; port <= kFew.last; ++port)
    strangers.push_back(listen_on(port));
  const auto none = PortLease::acquire(kFew);
  ASSERT_FALSE(none);
  const std::string who = "uid " + std::to_string(::geteuid()) + " listens on 3";
  EXPECT_NE(none.error().message.find(who), std::string::npos) << none.error().message;
  std::vector<PortLease> leases;
  std::set<int> ports;
  for (int i = 0; i < 8; ++i) {
    auto lease = PortLease::acquire_or_any(kFew);
    ASSERT_TRUE(lease) << lease.error().message;
    leases.push_back(*std::move(lease));
    EXPECT_TRUE(ports.insert(leases.back().port()).second) << "given twice";
    EXPECT_FALSE(leases.back().taken());
  }
  EXPECT_TRUE(listen_on(leases[0].port())) << "its holder can listen";
  strangers.clear();
  const auto preferred = PortLease::acquire_or_any(kFew);
  ASSERT_TRUE(preferred);
  EXPECT_EQ(preferred->port(), kFew.first);
}

TEST(PortLeaseTest, ManyThreadsAtOnceGetDifferentPorts) {
  constexpr int kThreads = 8;
  std::vector<std::optional<PortLease>> leases(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      auto lease = PortLease::acquire(kRange);
      if (lease) leases[i].emplace(*std::move(lease));
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<int> ports;
  for (const auto& lease : leases) {
    ASSERT_TRUE(lease);
    EXPECT_TRUE(ports.insert(lease->port()).second);
  }
}

TEST(PortLeaseTest, LeavesTheKernelsOwnRangeAlone) {
  unsigned first = 0, last = 0;
  const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range");
  ASSERT_TRUE(text);
  ASSERT_EQ(std::sscanf(text->c_str(), "%u %u", &first, &last), 2);
  const PortRange inside{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(first + 9)};
  EXPECT_FALSE(PortLease::acquire(inside));
}

// Forks a process of that user which leases every port of the range, and says how many through
// the pipe; it holds them until the other end of `until` is closed.
struct OtherUser {
  OtherUser(uid_t uid, PortRange range) {
    int told[2], until[2];
    EXPECT_EQ(::pipe(told), 0);
    EXPECT_EQ(::pipe(until), 0);
    pid = ::fork();
    if (pid == 0) {
      ::close(until[1]);
      if (::setgid(uid) != 0 || ::setuid(uid) != 0) ::_exit(9);
      std::vector<PortLease> held;
      while (auto lease = PortLease::acquire(range)) held.push_back(*std::move(lease));
      const auto count = static_cast<unsigned char>(held.size());
      if (::write(told[1], &count, 1) != 1) ::_exit(8);
      char end = 0;
      (void)!::read(until[0], &end, 1);
      ::_exit(0);
    }
    ::close(told[1]);
    ::close(until[0]);
    unsigned char count = 0;
    EXPECT_EQ(::read(told[0], &count, 1), 1);
    leased = count;
    ::close(told[0]);
    end.reset(until[1]);
  }
  ~OtherUser() {
    end.reset();
    ::waitpid(pid, nullptr, 0);
  }
  pid_t pid = 0;
  int leased = 0;
  Fd end;
};

TEST(PortLeaseTest, AgentsOfSeveralUsersShareThePorts) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: it acts as two other users";
  constexpr PortRange kFew{29140, 29144};
  const auto ours = PortLease::acquire(kFew);
  ASSERT_TRUE(ours) << ours.error().message;
  const OtherUser alice(61001, {29140, 29142});
  const OtherUser bob(61002, kFew);
  EXPECT_EQ(alice.leased, 2);
  EXPECT_EQ(bob.leased, 2);
  const auto more = PortLease::acquire(kFew);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::resource_exhausted);
}

TEST(PortLeaseTest, NothingInTheTemporaryFolderIsTrusted) {
  struct stat status {};
  ASSERT_EQ(::stat("/proc/self/ns/net", &status), 0);
  const std::string old = "/tmp/lockstep-ports-" + std::to_string(status.st_ino);
  // What an earlier lease of an older agent left there may stay; a fifo of ours must not be waited
  // for.
  constexpr PortRange kOne{29145, 29145};
  const bool made = ::mkdir(old.c_str(), 0777) == 0;
  const std::string fifo = old + "/29145";
  (void)::mkfifo(fifo.c_str(), 0666);  // in a folder of another user's it cannot be made
  const auto lease = PortLease::acquire(kOne);
  ::unlink(fifo.c_str());
  if (made) ::rmdir(old.c_str());
  ASSERT_TRUE(lease) << lease.error().message;
}

}  // namespace
}  // namespace lockstep::io
