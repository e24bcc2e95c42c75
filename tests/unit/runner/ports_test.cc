// Ports that programs of others hold, in a network namespace in which nobody else runs.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/io/net/port_lease.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

constexpr io::PortRange kOwnPorts{};            // of jobs
constexpr io::PortRange kSystem{40000, 40003};  // of the kernel, in our namespace

bool set_up_loopback() {
  const io::Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::string("lo").copy(request.ifr_name, sizeof request.ifr_name - 1);
  request.ifr_flags = IFF_UP;
  return any && ioctl(any.get(), SIOCSIFFLAGS, &request) == 0;
}

// Runs `test` on a thread whose network, and that of what it starts, has no port in use.
void in_own_network(const std::function<void()>& test) {
  std::thread([&] {
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    ASSERT_TRUE(set_up_loopback());
    const io::Fd range(
        io::open_file("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY).value_or(io::Fd()));
    ASSERT_TRUE(range);
    ASSERT_TRUE(io::write_all(range.get(),
                              std::to_string(kSystem.first) + " " + std::to_string(kSystem.last)));
    test();
  }).join();
}

// Listens on all ports of the range, as a program that wants the node for itself.
std::vector<io::Fd> hold(io::PortRange range) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, std::min<rlim_t>(files.rlim_max, 2'000));
  setrlimit(RLIMIT_NOFILE, &files);
  std::vector<io::Fd> held;
  for (unsigned port = range.first; port <= range.last; ++port) {
    io::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    if (bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
        listen(fd.get(), 1) != 0)
      ADD_FAILURE() << "port " << port << " is in use";
    held.push_back(std::move(fd));
  }
  return held;
}

TEST(RunnerAsRootTest, AJobThatIsToldNoPortNeedsNone) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a network namespace of our own";
  in_own_network([] {
    const auto own = hold(kOwnPorts), system = hold(kSystem);
    Attempt attempt;
    attempt.shell("echo ran");
    ASSERT_EQ(attempt.run(), 0);
    EXPECT_EQ(attempt.report().cause, Cause::completed) << attempt.runner_log();
  });
}

TEST(RunnerAsRootTest, WhereOthersHoldThePortsOfJobsTheSystemGivesOne) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a network namespace of our own";
  in_own_network([] {
    const auto own = hold(kOwnPorts);
    Attempt attempt;
    attempt.assignment.spec.distribution.kind = Distribution::Kind::pytorch;
    attempt.argv({"/usr/bin/python3", "-c",
                  "import os,socket;s=socket.create_server(('',int(os.environ['MASTER_PORT'])));"
                  "print(s.getsockname()[1])"});
    ASSERT_EQ(attempt.run(), 0);
    EXPECT_EQ(attempt.report().cause, Cause::completed) << attempt.runner_log();
    const int port = std::atoi(attempt.out().c_str());
    EXPECT_GE(port, kSystem.first) << attempt.out();
    EXPECT_LE(port, kSystem.last) << attempt.out();
  });
}

TEST(RunnerAsRootTest, WhereOthersHoldAllPortsAJobWaitsAndSaysWhoTheyAre) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a network namespace of our own";
  for (const auto kind : {Distribution::Kind::pytorch, Distribution::Kind::tensorflow})
    in_own_network([kind] {
      const auto own = hold(kOwnPorts);
      auto system = hold(kSystem);
      Attempt attempt;
      attempt.assignment.spec.distribution =
          kind == Distribution::Kind::tensorflow ? tensorflow_on(1, 2, 0) : Distribution{kind, 1};
      attempt.shell("echo ran");
      attempt.start();
      FakeAgent agent(attempt);
      std::string why;
      while (const auto report = agent.next_report())
        if (!(why = report->progress).empty()) break;
      EXPECT_NE(why.find("waits for a port"), std::string::npos) << why;
      EXPECT_NE(why.find("uid 0 listens on 1000"), std::string::npos) << why;
      EXPECT_FALSE(attempt.has_report());
      system.clear();
      ASSERT_EQ(attempt.wait(), 0);
      EXPECT_EQ(attempt.report().cause, Cause::completed) << attempt.runner_log();
    });
}

TEST(RunnerAsRootTest, AJobThatWaitsForAPortCanBeStopped) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a network namespace of our own";
  in_own_network([] {
    const auto own = hold(kOwnPorts), system = hold(kSystem);
    Attempt attempt;
    attempt.assignment.spec.distribution.kind = Distribution::Kind::pytorch;
    attempt.shell("echo never");
    attempt.start();
    FakeAgent agent(attempt);
    while (const auto report = agent.next_report())
      if (!report->progress.empty()) break;
    attempt.assignment.phase = WantedPhase::stop;
    agent.send(attempt.assignment);
    ASSERT_EQ(attempt.wait(), 0);
    EXPECT_EQ(attempt.report().cause, Cause::canceled);
  });
}

}  // namespace
}  // namespace lockstep::runner::testing
