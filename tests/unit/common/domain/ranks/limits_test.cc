// Limits of ranks: what a job asks, what a node's operator allows, and what then holds.

#include "common/domain/ranks/limits.h"

#include <gtest/gtest.h>

#include "common/domain/job/spec.h"
#include "common/domain/why/nodes/fit.h"
#include "common/domain/why/nodes/limit_fit.h"

namespace lockstep {
namespace {

TEST(LimitsTest, WithoutAWordTheDefaultsHoldUnlessANodeAllowsLess) {
  EXPECT_EQ(limits_of({}, {}), (Limits{4'096, gibibytes(16), {}}));
  EXPECT_EQ(limits_of({}, {1'000, gibibytes(1), gibibytes(50)}),
            (Limits{1'000, gibibytes(1), gibibytes(50)}));
  EXPECT_EQ(limits_of({}, {65'536, gibibytes(100), {}}).pids, 4'096);
  EXPECT_EQ(limits_of({}, {65'536, gibibytes(100), {}}).log, gibibytes(16));
}

TEST(LimitsTest, AJobGetsWhatItAsksUpToTheCap) {
  const LimitRequest asked{20'000, mebibytes(5), gibibytes(2)};
  EXPECT_EQ(limits_of(asked, {}), (Limits{20'000, mebibytes(5), gibibytes(2)}));
  EXPECT_EQ(limits_of(asked, {8'000, mebibytes(1), gibibytes(1)}),
            (Limits{8'000, mebibytes(1), gibibytes(1)}));
}

TEST(LimitsTest, WhatIsBeyondACapIsNamed) {
  const LimitCaps caps{8'192, gibibytes(1), gibibytes(10)};
  EXPECT_FALSE(beyond({}, caps));
  EXPECT_FALSE(beyond({8'192, gibibytes(1), gibibytes(10)}, caps));
  EXPECT_TRUE(beyond({8'193, {}, {}}, caps) == Why(NodeAllowsFewerProcesses{8'192, 8'193}));
  EXPECT_TRUE(beyond({{}, gibibytes(2), {}}, caps) ==
              Why(NodeAllowsLessLog{gibibytes(1), gibibytes(2)}));
  EXPECT_TRUE(beyond({{}, {}, gibibytes(11)}, caps) ==
              Why(NodeAllowsLessDisk{gibibytes(10), gibibytes(11)}));
  EXPECT_FALSE(beyond({4'000'000, gibibytes(999), gibibytes(999)}, {}));
}

TEST(LimitsTest, WhatNoRankCouldRunInIsRefused) {
  EXPECT_TRUE(validate(LimitRequest{}));
  EXPECT_TRUE(validate(LimitRequest{16, mebibytes(1), mebibytes(16)}));
  EXPECT_EQ(validate(LimitRequest{15, {}, {}}).error().message,
            "lockstep.limits.pids: is 15; must be 16 to 4,194,304");
  EXPECT_EQ(validate(LimitRequest{{}, kibibytes(1), {}}).error().message,
            "lockstep.limits.log: is 1.0 KiB; must be at least 1.0 MiB");
  EXPECT_EQ(validate(LimitRequest{{}, {}, mebibytes(1)}).error().message,
            "lockstep.limits.disk: is 1.0 MiB; must be at least 16.0 MiB");
}

TEST(LimitsTest, DockerArgsLowerTheLimitAndDoNotRaiseIt) {
  JobSpec spec;
  spec.command = Argv{{"true"}};
  spec.distribution.processes_per_node = 2;
  spec.resources.docker_args = {"--pids-limit=8192"};
  EXPECT_TRUE(validate(spec));
  spec.resources.docker_args = {"--pids-limit", "8193"};
  EXPECT_EQ(validate(spec).error().message,
            "resources.docker_args: --pids-limit 8193 is more than the container's ranks may have "
            "(2 x 4,096); write lockstep.limits.pids instead");
  spec.limits.pids = 5'000;
  EXPECT_TRUE(validate(spec));
}

TEST(LimitsTest, NumbersAreReadInThrees) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(4'096), "4,096");
  EXPECT_EQ(with_commas(-123'456), "-123,456");
  EXPECT_EQ(with_commas(4'194'304), "4,194,304");
}

}  // namespace
}  // namespace lockstep
