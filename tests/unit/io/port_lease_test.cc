#include "common/io/port_lease.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "tests/unit/io/helpers.h"

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
  const TempDir dir;
  const auto lease = PortLease::acquire(dir / "ports", kRange);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_FALSE(lease->taken());
  const Fd listener = listen_on(lease->port());
  ASSERT_TRUE(listener) << "a held port must not keep the user's program from listening";
  EXPECT_TRUE(lease->taken());
}

TEST(PortLeaseTest, SeesAListenerOnIpv6) {
  const TempDir dir;
  const auto lease = PortLease::acquire(dir / "ports", kRange);
  ASSERT_TRUE(lease);
  const Fd listener = listen_on(lease->port(), AF_INET6);
  if (!listener) GTEST_SKIP() << "this host has no IPv6";
  EXPECT_TRUE(lease->taken());
}

TEST(PortLeaseTest, GivesNoPortTwiceAndSaysWhenNoneIsLeft) {
  const TempDir dir;
  std::vector<PortLease> leases;
  std::set<int> ports;
  for (;;) {
    auto lease = PortLease::acquire(dir / "ports", kRange);
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
  EXPECT_TRUE(PortLease::acquire(dir / "ports", kRange)) << "a dropped lease is free again";
}

TEST(PortLeaseTest, SkipsAPortOnWhichAStrangerListens) {
  const TempDir dir;
  std::uint16_t first = 0;
  {
    const auto lease = PortLease::acquire(dir / "ports", kRange);
    ASSERT_TRUE(lease);
    first = lease->port();
  }
  const Fd stranger = listen_on(first);
  ASSERT_TRUE(stranger);
  const auto lease = PortLease::acquire(dir / "ports", kRange);
  ASSERT_TRUE(lease);
  EXPECT_NE(lease->port(), first);
}

TEST(PortLeaseTest, ManyThreadsAtOnceGetDifferentPorts) {
  const TempDir dir;
  constexpr int kThreads = 8;
  std::vector<std::optional<PortLease>> leases(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      auto lease = PortLease::acquire(dir / "ports", kRange);
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
  const TempDir dir;
  unsigned first = 0, last = 0;
  const auto text = read_file("/proc/sys/net/ipv4/ip_local_port_range");
  ASSERT_TRUE(text);
  ASSERT_EQ(std::sscanf(text->c_str(), "%u %u", &first, &last), 2);
  const PortRange inside{static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(first + 9)};
  EXPECT_FALSE(PortLease::acquire(dir / "ports", inside));
}

TEST(PortLeaseTest, TheLockDirectoryIsSharedByAllUsers) {
  const TempDir dir;
  ASSERT_TRUE(PortLease::acquire(dir / "ports", kRange));
  struct stat status {};
  ASSERT_EQ(::stat((dir / "ports").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 01777u);
}

}  // namespace
}  // namespace lockstep::io
