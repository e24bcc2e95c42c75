#include "common/base/rate_limit.h"

#include <gtest/gtest.h>

#include <string>

namespace lockstep {
namespace {

constexpr Instant kStart{1'000'000'000'000};

TEST(RateLimit, EachHasABurstAndThenSoManyASecond) {
  RateLimit<std::string> limit({3, 2});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take("ann", kStart)) << i;
  EXPECT_FALSE(limit.take("ann", kStart));
  EXPECT_TRUE(limit.take("bob", kStart)) << "another's own";
  EXPECT_FALSE(limit.take("ann", kStart + milliseconds(400)));
  EXPECT_TRUE(limit.take("ann", kStart + milliseconds(500)));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limit.take("ann", kStart + seconds(60))) << i;
  EXPECT_FALSE(limit.take("ann", kStart + seconds(60))) << "no more than the burst is saved up";
}

TEST(RateLimit, AClockThatGoesBackGivesNothing) {
  RateLimit<int> limit({1, 1});
  EXPECT_TRUE(limit.take(1, kStart));
  EXPECT_FALSE(limit.take(1, kStart - seconds(60)));
}

TEST(RateLimit, ItRemembersABoundedNumberAndForgetsThoseWhoAskedLittleFirst) {
  RateLimit<int> limit({2, 1}, 100);
  EXPECT_TRUE(limit.take(0, kStart + seconds(10)));
  EXPECT_TRUE(limit.take(0, kStart + seconds(10)));
  for (int who = 1; who < 100; ++who) EXPECT_TRUE(limit.take(who, kStart));
  EXPECT_TRUE(limit.take(100, kStart + seconds(10)));
  EXPECT_LE(limit.size(), 100U);
  EXPECT_FALSE(limit.take(0, kStart + seconds(10))) << "who asked most is remembered";
}

}  // namespace
}  // namespace lockstep
