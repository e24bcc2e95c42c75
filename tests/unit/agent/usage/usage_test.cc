// What a node uses, from texts of /proc and of cgroups.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>

#include "agent/usage/gpu_sampler.h"
#include "agent/usage/node_sampler.h"
#include "agent/usage/node_texts.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::agent {
namespace {

using test::TempDir;

constexpr const char* kStat =
    "cpu  100 0 50 900 10 0 0 0 0 0\n"
    "cpu0 60 1 30 400 5 2 3 4 50 0\n"
    "cpu1 40 0 20 500 5 0 0 0 0 0\n"
    "cpu10 7 0 0 500 5 0 0 0 0 0\n"
    "intr 5 6 7\n";

TEST(NodeTexts, CountsTheCpusThatAreOfferedAndNotTheirIdleTime) {
  EXPECT_EQ(busy_ticks(kStat, {0}), 60u + 1 + 30 + 2 + 3 + 4);
  EXPECT_EQ(busy_ticks(kStat, {0, 1}), 100u + 60);
  EXPECT_EQ(busy_ticks(kStat, {1}), 60u) << "cpu10 is another";
  EXPECT_EQ(busy_ticks(kStat, {5}), std::nullopt);
  EXPECT_EQ(busy_ticks("", {0}), std::nullopt);
  EXPECT_EQ(busy_ticks("cpu0 6 x", {0}), 6u);
}

TEST(NodeTexts, UsedMemoryIsWhatIsNotAvailable) {
  EXPECT_EQ(used_memory("MemTotal:  1000 kB\nMemFree: 5 kB\nMemAvailable:   400 kB\n"),
            kibibytes(600));
  EXPECT_EQ(used_memory("MemTotal: 1000 kB\nMemAvailable: 4000 kB\n"), Bytes{});
  EXPECT_EQ(used_memory("MemTotal: 1000 kB\n"), std::nullopt);
}

TEST(NodeTexts, TrafficIsTheSumWithoutLoopback) {
  const Traffic sum = traffic(
      "Inter-|   Receive                  |  Transmit\n"
      " face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n"
      "    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0\n"
      "  eth0:100 1 0 0 0 0 0 0 30 1 0 0 0 0 0 0\n"
      "   ib0: 1000 1 0 0 0 0 0 0 500 1 0 0 0 0 0 0\n"
      " short: 7 1\n");
  EXPECT_EQ(sum.received, 1100u);
  EXPECT_EQ(sum.sent, 530u);
}

TEST(NodeTexts, ReadsCgroupsOfBothVersions) {
  EXPECT_EQ(cgroup_cpu_us("usage_usec 1234\nuser_usec 1000\n"), 1234u);
  EXPECT_EQ(cgroup_cpu_us(""), std::nullopt);
  EXPECT_EQ(inactive_file("anon 5\ninactive_file 70\n"), Bytes{70});
  EXPECT_EQ(inactive_file("inactive_file 7\ntotal_inactive_file 90\n"), Bytes{90});
  EXPECT_EQ(inactive_file(""), Bytes{});
}

TEST(NodeSampler, RatesAreOverTheTimeSinceTheLastSample) {
  const TempDir root;
  root.file("proc/meminfo", "MemTotal: 2048 kB\nMemAvailable: 1024 kB\n");
  root.file("proc/stat", "cpu0 100 0 0 0 0 0 0 0\ncpu1 100 0 0 0 0 0 0 0\n");
  root.file("proc/net/dev", "eth0: 1000 0 0 0 0 0 0 0 500 0\n");
  NodeSampler sampler({0}, root.path(), root.path());
  const Instant start{1'000'000'000};
  const NodeUse first = sampler.sample(start);
  EXPECT_EQ(first.cpu_milli, 0);
  EXPECT_EQ(first.memory, mebibytes(1));
  EXPECT_GT(first.disk_total.count, first.disk_used.count);
  root.file("proc/stat", "cpu0 300 0 0 0 0 0 0 0\ncpu1 900 0 0 0 0 0 0 0\n");
  root.file("proc/net/dev", "eth0: 5000 0 0 0 0 0 0 0 1500 0\n");
  const NodeUse second = sampler.sample(start + seconds(4));
  EXPECT_EQ(second.cpu_milli, 500) << "200 ticks of 10 ms in 4 s";
  EXPECT_EQ(second.received_per_second, 1000u);
  EXPECT_EQ(second.sent_per_second, 250u);
  root.file("proc/stat", "cpu0 1 0 0 0 0 0 0 0\n");
  root.file("proc/net/dev", "");
  const NodeUse third = sampler.sample(start + seconds(8));
  EXPECT_EQ(third.cpu_milli, 0) << "counters that go back are no rate";
  EXPECT_EQ(third.received_per_second, 0u);
}

TEST(NodeSampler, ACgroupWithALimitCountsInsteadOfTheMachine) {
  const TempDir root;
  root.file("proc/meminfo", "MemTotal: 2048 kB\nMemAvailable: 24 kB\n");
  root.file("proc/stat", "cpu0 100 0 0 0 0 0 0 0\n");
  root.file("proc/self/cgroup", "0::/box\n");
  root.file("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.file("sys/fs/cgroup/box/cpu.max", "200000 100000\n");
  root.file("sys/fs/cgroup/box/cpu.stat", "usage_usec 1000000\n");
  root.file("sys/fs/cgroup/box/memory.max", "1048576\n");
  root.file("sys/fs/cgroup/box/memory.current", "300000\n");
  root.file("sys/fs/cgroup/box/memory.stat", "anon 1\ninactive_file 100000\n");
  NodeSampler sampler({0}, root.path(), root.path());
  const Instant start{1'000'000'000};
  EXPECT_EQ(sampler.sample(start).memory, Bytes{200000});
  root.file("sys/fs/cgroup/box/cpu.stat", "usage_usec 2500000\n");
  EXPECT_EQ(sampler.sample(start + seconds(1)).cpu_milli, 1500);
}

TEST(GpuSampler, WithoutGpusThereIsNothing) {
  const GpuSampler sampler({}, seconds(5));
  EXPECT_TRUE(sampler.newest().empty());
}

TEST(GpuSampler, SaysWhatNvmlSaysOfTheGpusThatAreOffered) {
  std::vector<GpuDevice> gpus(2);
  gpus[0].index = 1;
  gpus[0].pci_bus_id = "00000000:11:00.0";
  gpus[1].index = 3;
  gpus[1].pci_bus_id = "00000000:13:00.0";
  const GpuSampler sampler(gpus, seconds(1), FAKE_NVML);
  std::vector<GpuUse> seen;
  for (int i = 0; i < 500 && seen.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    seen = sampler.newest();
  }
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], (GpuUse{1, 20, Bytes{}}));
  EXPECT_EQ(seen[1], (GpuUse{3, 40, Bytes{}}));
}

}  // namespace
}  // namespace lockstep::agent
