// What people are told of limits that ranks ran into: at once, then only when there is much more.

#include "runner/steps/limit_watch.h"

#include <gtest/gtest.h>

namespace lockstep::runner::testing {
namespace {

using Lines = std::vector<std::string>;

class LimitWatchTest : public ::testing::Test {
 protected:
  LimitWatch watch_{Limits{4'096, gibibytes(1), {}}};
  LimitCounts counts_;
};

TEST_F(LimitWatchTest, ARankThatForksTooOftenIsNamedWithItsLimit) {
  EXPECT_FALSE(watch_.look(counts_, false));
  counts_.refused_forks = {{3, 512}};
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.lines(), Lines{"rank 3 was refused 512 processes or threads: its limit is 4,096 "
                                  "(--pids-limit)"});
  EXPECT_EQ(watch_.refusal_of(3, counts_),
            "was refused 512 processes or threads: its limit is 4,096 (--pids-limit)");
  EXPECT_EQ(watch_.refusal_of(2, counts_), "");
}

TEST_F(LimitWatchTest, TheLimitOfAllJobsTogetherIsNotTakenForThatOfTheRank) {
  counts_.refused_forks = {{3, 512}};
  counts_.pids_of_all = 28'672;
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.lines(), Lines{"rank 3 was refused 512 processes or threads: all jobs of this "
                                  "node together may have 28,672"});
  counts_.pids_of_all = 0;  // they have ended
  EXPECT_EQ(watch_.refusal_of(3, counts_),
            "was refused 512 processes or threads: all jobs of this node together may have 28,672");
}

TEST_F(LimitWatchTest, WhereTheKernelCountsNoRankTheNodesRefusalsAreSaid) {
  counts_.refused_of_all = 40;  // of an earlier time
  EXPECT_FALSE(watch_.look(counts_, false));
  counts_.pids_of_all = 28'672;
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.lines(), Lines{"the jobs of this node were refused 40 processes or threads: "
                                  "together they may have 28,672"});
}

TEST_F(LimitWatchTest, ALittleMoreIsNoNewsUntilTheEnd) {
  counts_.refused_forks = {{0, 1}};
  EXPECT_TRUE(watch_.look(counts_, false));
  counts_.refused_forks = {{0, 7}};
  EXPECT_FALSE(watch_.look(counts_, false));
  counts_.refused_forks = {{0, 8}, {1, 1'000}, {2, 1}};
  EXPECT_TRUE(watch_.look(counts_, false));
  EXPECT_EQ(watch_.lines(), Lines{"rank 0 was refused 8 processes or threads: its limit is 4,096 "
                                  "(--pids-limit); so were 2 other ranks"});
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
  watch_.ended("its files hold too much");
  counts_.dropped = gibibytes(90);
  EXPECT_FALSE(watch_.look(counts_, true)) << "a full disk refuses logs below their limit, too";
  EXPECT_EQ(watch_.lines(),
            (Lines{"3.0 GiB of the output of 2 ranks (the first is 2) are not kept: the limit of a "
                   "job's logs on this node is 1.0 GiB (--log-limit)",
                   "the ranks were refused 1 process or thread: the limit of their container is "
                   "8,208 (--pids-limit, for each of them)",
                   "its files hold too much"}));
}

}  // namespace
}  // namespace lockstep::runner::testing
