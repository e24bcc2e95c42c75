// What falls on which day: given attempts, a model that goes from minute to minute, and that parts
// add up to the whole.

#include "launcher/accounting/attempt_use.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "launcher/accounting/price.h"
#include "tests/unit/launcher/accounting/uses.h"

namespace lockstep::launcher {
namespace {

using test::random_use;
using test::time_of;
using test::use_of_one;

UsageSums sum_of(const UsageRows& rows) {
  UsageSums sums;
  for (const auto& [key, row] : rows) sums += row;
  return sums;
}

TEST(AttemptUse, FallsOnItsDays) {
  const AttemptUse use = use_of_one("ann", "2026-01-30T23:00", "2026-02-01T01:00");
  const UsageRows rows = rows_of(use, time_of("2026-03-01T00:00"));
  ASSERT_EQ(rows.size(), 3u);
  std::vector<std::string> days;
  std::vector<std::int64_t> gpu_hours, cost;
  for (const auto& [key, sums] : rows) {
    EXPECT_EQ(key.user + key.project + key.target + key.size, "annvisionlabStandard_NC6");
    days.push_back(to_string(key.day));
    gpu_hours.push_back(sums.gpu_seconds / 3'600);
    cost.push_back(sums.cost_micros);
    EXPECT_EQ(sums.cpu_seconds, 4 * sums.gpu_seconds);
    EXPECT_EQ(sums.memory_mib_seconds, 8'192 * sums.node_seconds);
    EXPECT_EQ(sums.measured_cpu_seconds, 0);
  }
  EXPECT_EQ(days, (std::vector<std::string>{"2026-01-30", "2026-01-31", "2026-02-01"}));
  EXPECT_EQ(gpu_hours, (std::vector<std::int64_t>{1, 24, 1}));
  EXPECT_EQ(cost, (std::vector<std::int64_t>{900'000, 21'600'000, 900'000}));
  const UsageSums& first = rows.begin()->second;
  const UsageSums& last = rows.rbegin()->second;
  EXPECT_EQ(first.started, 1);
  EXPECT_EQ(first.waits, 1);
  EXPECT_EQ(first.wait_seconds, 600);
  EXPECT_EQ(first.ended(), 0);
  EXPECT_EQ(last.completed, 1);
  EXPECT_EQ(last.started, 0);
}

TEST(AttemptUse, ThatEndsAtMidnightHasNothingOnTheNextDay) {
  const AttemptUse use = use_of_one("ann", "2026-01-31T00:00", "2026-02-01T00:00");
  const UsageRows rows = rows_of(use, *use.ended);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.begin()->second.gpu_seconds, 86'400);
  EXPECT_EQ(rows.rbegin()->second.gpu_seconds, 0);
  EXPECT_EQ(rows.rbegin()->second.completed, 1);  // it ended on the first moment of that day
}

TEST(AttemptUse, GrowsWhileItRuns) {
  AttemptUse use = use_of_one("ann", "2026-01-31T08:00", "2026-01-31T09:00");
  use.ended.reset();
  use.outcome = Outcome::running;
  use.parts[0].used = HeldPart::Used{minutes(120), minutes(15), 4'096 * 3'600};
  const UsageSums sums = sum_of(rows_of(use, time_of("2026-01-31T08:30")));
  EXPECT_EQ(sums.gpu_seconds, 1'800);
  EXPECT_EQ(sums.used_cpu_seconds, 7'200);
  EXPECT_EQ(sums.measured_cpu_seconds, 7'200);
  EXPECT_EQ(sums.used_gpu_seconds, 900);
  EXPECT_EQ(sums.ended(), 0);
  EXPECT_EQ(sums.started, 1);
  EXPECT_EQ(elapsed(use, time_of("2026-01-31T08:30")), minutes(30));
  EXPECT_EQ(waited(use, time_of("2026-01-31T08:30")), minutes(10));
}

TEST(AttemptUse, OfAJobThatNeverRanIsItsWait) {
  AttemptUse use = use_of_one("ann", "2026-01-31T08:00", "2026-01-31T09:00");
  use.attempt.number = 0;
  use.placed.reset();
  use.parts.clear();
  use.outcome = Outcome::canceled;
  const UsageRows rows = rows_of(use, *use.ended);
  ASSERT_EQ(rows.size(), 1u);
  const UsageSums& sums = rows.begin()->second;
  EXPECT_EQ(rows.begin()->first.size, "");
  EXPECT_EQ(sums.canceled, 1);
  EXPECT_EQ(sums.started, 0);
  EXPECT_EQ(sums.waits, 1);
  EXPECT_EQ(sums.wait_seconds, 70 * 60);
  // While it waits, it has no row.
  use.ended.reset();
  EXPECT_TRUE(rows_of(use, time_of("2026-02-01T00:00")).empty());
}

TEST(AttemptUse, HasARowForEachSize) {
  AttemptUse use = use_of_one("ann", "2026-01-31T08:00", "2026-01-31T09:00");
  use.parts.push_back({"Standard_D2", 2, 0, gibibytes(1), 0, {}});
  use.parts.push_back({"Standard_D2", 2, 0, gibibytes(1), 0, {}});
  const UsageRows rows = rows_of(use, *use.ended);
  ASSERT_EQ(rows.size(), 2u);
  const UsageSums& of_d2 = rows.begin()->second;
  EXPECT_EQ(rows.begin()->first.size, "Standard_D2");
  EXPECT_EQ(of_d2.node_seconds, 7'200);
  EXPECT_EQ(of_d2.started, 0) << "it is counted once, with the first part";
  EXPECT_EQ(rows.rbegin()->second.started, 1);
}

TEST(AttemptUse, OfAClockThatWentBackHoldsNothing) {
  const AttemptUse use = use_of_one("ann", "2026-01-31T08:00", "2026-01-31T07:00");
  const UsageSums sums = sum_of(rows_of(use, *use.ended));
  EXPECT_EQ(sums.gpu_seconds, 0);
  EXPECT_EQ(sums.completed, 1);
  EXPECT_EQ(elapsed(use, *use.ended), Duration::zero());
}

TEST(AttemptUse, WithImpossibleAmountsStaysWithinNumbers) {
  AttemptUse use = use_of_one("ann", "2026-01-01T08:00", "2026-12-31T08:00");
  use.parts[0].memory = Bytes{std::numeric_limits<std::uint64_t>::max()};
  use.parts[0].cpus = -3;
  use.parts[0].price_per_hour = std::numeric_limits<double>::infinity();
  use.parts[0].used = HeldPart::Used{Duration(-5), Duration::max(), -1};
  const UsageSums sums = sum_of(rows_of(use, *use.ended));
  EXPECT_GE(sums.memory_mib_seconds, 0);
  EXPECT_EQ(sums.cpu_seconds, 0);
  EXPECT_GE(sums.cost_micros, 0);
  EXPECT_EQ(sums.used_cpu_seconds, 0);
  EXPECT_EQ(sums.used_memory_mib_seconds, 0);
}

TEST(AttemptUse, AgreesWithAModelThatGoesFromMinuteToMinute) {
  std::mt19937 random(11);
  for (int i = 0; i < 25; ++i) {
    const AttemptUse use = random_use(random, true);
    UsageRows model;
    for (Instant at = *use.placed; at < *use.ended; at = at + minutes(1))
      for (const HeldPart& part : use.parts) {
        UsageSums& sums = model[{utc_day(at), use.user, use.project, use.target, part.size}];
        sums.node_seconds += 60;
        sums.cpu_seconds += 60 * part.cpus;
        sums.gpu_seconds += 60 * part.gpus;
        sums.memory_mib_seconds += 60 * static_cast<std::int64_t>(part.memory.count >> 20);
        if (!part.used) continue;
        sums.measured_cpu_seconds += 60 * part.cpus;
        sums.measured_gpu_seconds += 60 * part.gpus;
      }
    EXPECT_EQ(sum_of(rows_of(use, *use.ended)).node_seconds, sum_of(model).node_seconds);
    for (const auto& [key, sums] : rows_of(use, *use.ended)) {
      const UsageSums& expected = model[key];
      EXPECT_EQ(sums.node_seconds, expected.node_seconds) << to_string(key.day);
      EXPECT_EQ(sums.cpu_seconds, expected.cpu_seconds);
      EXPECT_EQ(sums.gpu_seconds, expected.gpu_seconds);
      EXPECT_EQ(sums.memory_mib_seconds, expected.memory_mib_seconds);
      EXPECT_EQ(sums.measured_cpu_seconds, expected.measured_cpu_seconds);
      EXPECT_EQ(sums.measured_gpu_seconds, expected.measured_gpu_seconds);
    }
  }
}

TEST(AttemptUse, PartsOfDaysAddUpToTheWhole) {
  std::mt19937 random(12);
  for (int i = 0; i < 2'000; ++i) {
    const AttemptUse use = random_use(random, false);
    const UsageSums sums = sum_of(rows_of(use, *use.ended));
    const std::int64_t ms = std::chrono::floor<milliseconds>(elapsed(use, *use.ended)).count();
    std::int64_t cpus = 0, used_cpu = 0, used_memory = 0;
    std::map<std::string, double> prices;
    for (const HeldPart& part : use.parts) {
      cpus += part.cpus;
      prices[part.size] += part.price_per_hour;
      if (part.used) used_cpu += std::chrono::floor<seconds>(part.used->cpu).count();
      if (part.used) used_memory += part.used->memory_mib_seconds;
    }
    // Rounded down once for each size.
    EXPECT_LE(sums.cpu_seconds, cpus * ms / 1'000);
    EXPECT_GE(sums.cpu_seconds, cpus * ms / 1'000 - 3);
    if (ms > 0) {
      EXPECT_EQ(sums.used_cpu_seconds, used_cpu);
      EXPECT_EQ(sums.used_memory_mib_seconds, used_memory);
    }
    double cost = 0;
    for (const auto& [size, price] : prices) cost += price * static_cast<double>(ms) / 3.6e6 * 1e6;
    EXPECT_NEAR(static_cast<double>(sums.cost_micros), cost, 4);
    EXPECT_EQ(sums.started, 1);
    EXPECT_EQ(sums.ended(), 1);
    for (const auto& [key, row] : rows_of(use, *use.ended))
      for (const UsageField& field : usage_fields()) EXPECT_GE(row.*field.value, 0) << field.name;
  }
}

TEST(AttemptUse, LookedAtEarlierIsNeverMore) {
  std::mt19937 random(13);
  for (int i = 0; i < 200; ++i) {
    AttemptUse use = random_use(random, false);
    const Instant end = *use.ended;
    use.ended.reset();
    UsageSums before;
    for (int look = 1; look <= 5; ++look) {
      const UsageSums now = sum_of(rows_of(use, *use.placed + (end - *use.placed) / 5 * look));
      EXPECT_GE(now.cpu_seconds, before.cpu_seconds);
      EXPECT_GE(now.memory_mib_seconds, before.memory_mib_seconds);
      EXPECT_GE(now.cost_micros, before.cost_micros);
      before = now;
    }
  }
}

TEST(UsageSums, HaveANameForEachField) {
  std::set<std::string_view> names;
  for (const UsageField& field : usage_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.meaning.empty());
  }
  UsageSums most;
  most.cpu_seconds = std::numeric_limits<std::int64_t>::max() - 1;
  most += most;
  EXPECT_EQ(most.cpu_seconds, std::numeric_limits<std::int64_t>::max());
}

TEST(Price, IsThatOfTheLargestShare) {
  Size size;
  size.vcpus = 8;
  size.gpus = 4;
  size.memory = gibibytes(64);
  EXPECT_EQ(price_of_part(size, 8, 4, gibibytes(64), true), 0);
  size.price_per_hour = 4;
  EXPECT_EQ(price_of_part(size, 1, 1, gibibytes(1), true), 4);
  EXPECT_EQ(price_of_part(size, 1, 1, gibibytes(1), false), 1);   // a GPU of four
  EXPECT_EQ(price_of_part(size, 4, 0, gibibytes(1), false), 2);   // half of the cpus
  EXPECT_EQ(price_of_part(size, 0, 0, gibibytes(48), false), 3);  // memory
  EXPECT_EQ(price_of_part(size, 80, 0, gibibytes(1), false), 4);  // more than it should have
  EXPECT_EQ(price_of_part(size, 0, 0, Bytes{}, false), 0);
  size.gpus = 0;
  EXPECT_EQ(price_of_part(size, 0, 4, Bytes{}, false), 0);
}

}  // namespace
}  // namespace lockstep::launcher
