#include "common/io/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace lockstep::io {
namespace {

TEST(ClockTest, StartsAtWallTimeAndNeverGoesBack) {
  SystemClock clock;
  const std::int64_t wall_s = ::time(nullptr);
  Instant last = clock.now();
  EXPECT_NEAR(static_cast<double>(last.ns) / 1e9, static_cast<double>(wall_s), 2.0);
  for (int i = 0; i < 1000; ++i) {
    const Instant now = clock.now();
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(ClockTest, NeverRunsBehindTheGivenInstant) {
  const Instant future = SystemClock().now() + minutes(60);
  SystemClock clock(future);
  EXPECT_GE(clock.now(), future);
  EXPECT_LT(clock.now(), future + minutes(1));
}

}  // namespace
}  // namespace lockstep::io
