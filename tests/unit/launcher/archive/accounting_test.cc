// What was held, by day: against a model that counts every second.

#include "launcher/archive/accounting.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/unit/launcher/archive/facts.h"

namespace lockstep::archive {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kDaySeconds = 24 * 3'600;

Allotment held(int cpus, int gpus, Bytes memory) {
  Life life;
  life.cpus = cpus;
  life.gpus = gpus;
  life.memory = memory;
  return allotment_of(life);
}

TEST(Accounting, IsCutAtMidnight) {
  const auto days = use_of(held(4, 2, mebibytes(10)), at_second(kDaySeconds - 10),
                           at_second(2 * kDaySeconds + 5));
  ASSERT_THAT(days, SizeIs(3));
  EXPECT_EQ(days.at(0).cpu_ms, 4 * 10 * 1'000);
  EXPECT_EQ(days.at(1).gpu_ms, 2 * kDaySeconds * 1'000);
  EXPECT_EQ(days.at(2).memory_mib_s, 10 * 5);
}

TEST(Accounting, AClockThatWasSetBackGivesNothing) {
  EXPECT_THAT(use_of(held(1, 0, {}), at_second(10), at_second(10)), IsEmpty());
  EXPECT_THAT(use_of(held(1, 0, {}), at_second(10), at_second(5)), IsEmpty());
}

TEST(Accounting, AWrongClockAddsALimitedTime) {
  const auto days = use_of(held(1, 0, {}), at_second(0), Instant::never());
  EXPECT_LE(days.size(), static_cast<std::size_t>(kLongestHeld / kDay) + 1);
}

TEST(Accounting, DaysBefore1970AreRoundedDown) {
  EXPECT_EQ(day_of({0}), 0);
  EXPECT_EQ(day_of({-1}), -1);
  EXPECT_EQ(day_of(at_second(-kDaySeconds)), -1);
  EXPECT_EQ(day_of(at_second(kDaySeconds) - Duration(1)), 0);
}

TEST(Accounting, AgreesWithAModelThatCountsSeconds) {
  std::mt19937_64 random(41);
  for (int round = 0; round < 50; ++round) {
    const std::int64_t from = static_cast<std::int64_t>(random() % (3 * kDaySeconds));
    const std::int64_t to = from + static_cast<std::int64_t>(random() % (3 * kDaySeconds));
    const int cpus = static_cast<int>(random() % 5), gpus = static_cast<int>(random() % 3);
    std::map<std::int64_t, std::int64_t> model;
    for (std::int64_t second = from; second < to; ++second) ++model[second / kDaySeconds];
    const auto days = use_of(held(cpus, gpus, mebibytes(7)), at_second(from), at_second(to));
    ASSERT_EQ(days.size(), model.size());
    for (const auto& [day, held_for] : model) {
      ASSERT_EQ(days.at(day).cpu_ms, cpus * held_for * 1'000);
      ASSERT_EQ(days.at(day).gpu_ms, gpus * held_for * 1'000);
      ASSERT_EQ(days.at(day).memory_mib_s, 7 * held_for);
    }
  }
}

}  // namespace
}  // namespace lockstep::archive
