// When the launcher is asked whether we still watch, and when it is lost.

#include "launcher/cli/link/watch_lease.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

const WatchLease::Limits kLimits{seconds(7), seconds(3)};

TEST(WatchLease, NothingIsAskedWhileItIsRenewed) {
  WatchLease lease(kLimits);
  for (int second = 0; second <= 60; second += 5) {
    lease.renewed(seconds(second));
    EXPECT_FALSE(lease.must_ask(seconds(second) + milliseconds(6999)));
    EXPECT_FALSE(lease.is_lost(seconds(second) + milliseconds(6999)));
  }
}

TEST(WatchLease, AfterSilenceItIsAskedUntilItAnswersAndLostWhenItDoesNot) {
  WatchLease lease(kLimits);
  lease.renewed(seconds(0));
  ASSERT_TRUE(lease.must_ask(seconds(7)));
  lease.expect_answer(seconds(7));
  EXPECT_TRUE(lease.must_ask(seconds(8)));
  lease.expect_answer(seconds(8));
  EXPECT_FALSE(lease.is_lost(seconds(10)));
  EXPECT_TRUE(lease.is_lost(seconds(11))) << "from the first question on";
  lease.renewed(seconds(11));
  EXPECT_FALSE(lease.is_lost(seconds(20)));
  EXPECT_FALSE(lease.must_ask(seconds(12)));
}

TEST(WatchLease, AnotherAnswerShowsThatItLivesAndRenewsNothing) {
  WatchLease lease(kLimits);
  lease.renewed(seconds(0));
  lease.expect_answer(seconds(2));
  lease.heard();
  EXPECT_FALSE(lease.is_lost(seconds(6)));
  EXPECT_FALSE(lease.must_ask(seconds(6)));
  EXPECT_TRUE(lease.must_ask(seconds(7)));
}

TEST(WatchLease, ALauncherIsGivenTimeBetweenItsMessages) {
  EXPECT_GT(WatchLease::Limits{}.quiet, kStillWatchingEvery + seconds(1));
}

}  // namespace
}  // namespace lockstep::cli
