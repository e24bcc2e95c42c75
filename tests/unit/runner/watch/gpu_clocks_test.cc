// What holds down the clocks of GPUs, by a stand-in for NVML.

#include "runner/watch/gpu_clocks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/io/clock.h"

namespace lockstep::runner {
namespace {

TEST(GpuClocks, OnlyWhatSlowsABusyGpuHasAWord) {
  EXPECT_EQ(held_by(0), "");
  EXPECT_EQ(held_by(0x01 | 0x02 | 0x10), "") << "it idles, or its clocks were set";
  EXPECT_EQ(held_by(0x20), "thermal");
  EXPECT_EQ(held_by(0x40 | 0x04), "thermal, power");
  EXPECT_EQ(held_by(0x08), "hardware");
}

TEST(GpuClocks, IndexesAreInPciOrder) {
  const GpuClocks clocks({0, 1, 99}, seconds(60), FAKE_NVML);
  io::SystemClock clock;
  const Instant until = clock.now() + minutes(1);
  while (clocks.newest().empty() && clock.now() < until) ::usleep(10'000);
  EXPECT_EQ(clocks.newest(), (std::map<int, std::string>{{0, ""}, {1, "thermal, power"}}));
}

TEST(GpuClocks, WithoutADriverNothingIsSaid) {
  const GpuClocks absent({0}, seconds(60), "/no/such/library.so");
  const GpuClocks none({}, seconds(60), FAKE_NVML);
  EXPECT_TRUE(none.newest().empty());
  EXPECT_TRUE(absent.newest().empty());
}

}  // namespace
}  // namespace lockstep::runner
