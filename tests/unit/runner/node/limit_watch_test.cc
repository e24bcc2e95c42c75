// What people are told of limits that ranks ran into: at once, then only when there is much more.

#include "runner/node/limit_watch.h"

#include <gtest/gtest.h>

#include "common/domain/why/ranks/notes.h"
#include "common/domain/why/ranks/ranks.h"

namespace lockstep::runner::testing {
namespace {

using Reasons = std::vector<Why>;

class LimitWatchTest : public ::testing::Test {
 protected:
  LimitWatch watch_{Limits{4'096, gibibytes(1), {}}};
  LimitCounts counts_;
};

TEST_F(LimitWatchTest, ARankThatForksTooOftenIsNamedWithItsLimit) {
  EXPECT_FALSE(watch_.look(counts_, false));
  counts_.refused_forks = {{3, 512}};
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.reached(), Reasons{Why(ForksRefused{3, 512, 4'096, false, 0})});
  EXPECT_EQ(watch_.refusal_of(3, counts_), Why(WasRefusedForks{512, 4'096, false}));
  EXPECT_EQ(watch_.refusal_of(2, counts_), Why());
}

TEST_F(LimitWatchTest, TheLimitOfAllJobsTogetherIsNotTakenForThatOfTheRank) {
  counts_.refused_forks = {{3, 512}};
  counts_.pids_of_all = 28'672;
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.reached(), Reasons{Why(ForksRefused{3, 512, 28'672, true, 0})});
  counts_.pids_of_all = 0;  // they have ended
  EXPECT_EQ(watch_.refusal_of(3, counts_), Why(WasRefusedForks{512, 28'672, true}));
}

TEST_F(LimitWatchTest, WhereTheKernelCountsNoRankTheNodesRefusalsAreSaid) {
  counts_.refused_of_all = 40;  // of an earlier time
  EXPECT_FALSE(watch_.look(counts_, false));
  counts_.pids_of_all = 28'672;
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.reached(), Reasons{Why(ForksRefusedOnNode{40, 28'672})});
}

TEST_F(LimitWatchTest, ALittleMoreIsNoNewsUntilTheEnd) {
  counts_.refused_forks = {{0, 1}};
  EXPECT_TRUE(watch_.look(counts_, false));
  counts_.refused_forks = {{0, 7}};
  EXPECT_FALSE(watch_.look(counts_, false));
  counts_.refused_forks = {{0, 8}, {1, 1'000}, {2, 1}};
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.reached(), Reasons{Why(ForksRefused{0, 8, 4'096, false, 2})});
  counts_.refused_forks = {{0, 9}};
  EXPECT_FALSE(watch_.look(counts_, true)) << "fewer than told: nothing to add";
  counts_.refused_forks = {{0, 1'010}};
  EXPECT_TRUE(watch_.look(counts_, true));
  EXPECT_FALSE(watch_.look(counts_, true));
}

TEST_F(LimitWatchTest, EachLimitHasALineThatKeepsItsPlace) {
  counts_.dropping_ranks = 1;
  counts_.dropped_of = 2;
  counts_.dropped = mebibytes(3);
  EXPECT_TRUE(watch_.look(counts_, false));
  counts_.refused_in_container = 1;
  counts_.container_pids = 8'208;
  EXPECT_TRUE(watch_.look(counts_, false));
  counts_.dropping_ranks = 2;
  counts_.dropped = gibibytes(3);
  EXPECT_TRUE(watch_.look(counts_, false));
  watch_.ended(told("its files hold too much"));
  counts_.dropped = gibibytes(90);
  EXPECT_FALSE(watch_.look(counts_, true)) << "a full disk refuses logs below their limit, too";
  EXPECT_EQ(watch_.reached(),
            (Reasons{LogsAreCut{gibibytes(3), 2, 2, gibibytes(1)},
                     ForksRefusedInContainer{1, 8'208}, told("its files hold too much")}));
}

}  // namespace
}  // namespace lockstep::runner::testing
