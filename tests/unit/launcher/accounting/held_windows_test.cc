// What was held in the last days: against a model that goes from minute to minute, and when a
// window has room again.

#include "launcher/accounting/held_windows.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/launcher/accounting/uses.h"

namespace lockstep::launcher {
namespace {

using test::time_of;

const QuotaHolder kAnn{QuotaHolder::Kind::user, "ann"};
const QuotaHolder kVision{QuotaHolder::Kind::project, "vision"};
constexpr HeldAmounts kTwoGpus{1, 8, 2, 1'024};

TEST(HeldWindows, CountsWhatIsHeldAndWasHeld) {
  HeldWindows windows;
  windows.hold(time_of("2026-01-30T22:00"), kAnn, kTwoGpus, 1);
  windows.hold(time_of("2026-01-31T02:00"), kAnn, kTwoGpus, -1);
  windows.hold(time_of("2026-01-31T10:00"), kAnn, kTwoGpus, 1);
  const Instant now = time_of("2026-01-31T11:00");
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::gpus, 1, now), 2 * 3 * 3'600);
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::gpus, 2, now), 2 * 5 * 3'600);
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::cpus, 30, now), 8 * 5 * 3'600);
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::memory, 30, now), 1'024 * 5 * 3'600);
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::nodes, 30, now), 5 * 3'600);
  EXPECT_EQ(windows.held_seconds(kVision, WindowResource::gpus, 30, now), 0);
  EXPECT_EQ(windows.held_now(kAnn), kTwoGpus);
  // Tomorrow yesterday's are gone from a window of two days.
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::gpus, 2, time_of("2026-02-01T00:00")),
            2 * (2 + 14) * 3'600);
}

TEST(HeldWindows, SaysWhenThereIsRoomAgain) {
  HeldWindows windows;
  windows.hold(time_of("2026-01-10T00:00"), kAnn, kTwoGpus, 1);
  windows.hold(time_of("2026-01-10T10:00"), kAnn, kTwoGpus, -1);
  windows.hold(time_of("2026-01-12T00:00"), kAnn, kTwoGpus, 1);
  windows.hold(time_of("2026-01-12T05:00"), kAnn, kTwoGpus, -1);
  const Instant now = time_of("2026-01-15T00:00");
  WindowLimit limit{WindowResource::gpus, 31 * 3'600, 30};
  EXPECT_EQ(windows.use_of(kAnn, limit, now), (WindowUse{30 * 3'600, 3'600, {}}));
  limit.most_seconds = 30 * 3'600;  // 20 of the 10th, 10 of the 12th
  EXPECT_EQ(windows.use_of(kAnn, limit, now),
            (WindowUse{30 * 3'600, 0, parse_day("2026-02-09").value()}));
  limit.most_seconds = 10 * 3'600;
  EXPECT_EQ(windows.use_of(kAnn, limit, now).again, parse_day("2026-02-11").value());
  limit.most_seconds = 0;
  EXPECT_EQ(windows.use_of(kAnn, limit, now).again, std::nullopt);
  limit = {WindowResource::gpus, 1, 3};
  EXPECT_EQ(windows.use_of(kAnn, limit, now).left_seconds, 1) << "the 12th is three days ago";
}

TEST(HeldWindows, ForgetsOldDays) {
  HeldWindows windows;
  windows.hold(time_of("2026-01-10T00:00"), kAnn, kTwoGpus, 1);
  windows.hold(time_of("2026-01-11T10:00"), kAnn, kTwoGpus, -1);
  windows.hold(time_of("2026-01-11T10:00"), kVision, kTwoGpus, 1);
  windows.forget_before(parse_day("2026-01-11").value());
  EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::gpus, 30, time_of("2026-01-15T00:00")),
            2 * 10 * 3'600);
  windows.forget_before(parse_day("2026-01-12").value());
  EXPECT_EQ(windows.holders(), 1u) << "who holds something is not forgotten";
}

TEST(HeldWindows, AgreesWithAModelThatGoesFromMinuteToMinute) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    HeldWindows windows;
    std::vector<HeldAmounts> held;
    std::map<Day, std::int64_t> cpus_by_day, memory_by_day;
    Instant now = time_of("2026-01-01T00:00");
    for (int minute = 0; minute < 6 * 24 * 60; ++minute, now = now + minutes(1)) {
      if (any(1, 100) == 1) {
        const HeldAmounts amounts{1, any(0, 64), any(0, 8), any(0, 100'000)};
        windows.hold(now, kAnn, amounts, 1);
        held.push_back(amounts);
      } else if (!held.empty() && any(1, 100) == 1) {
        windows.hold(now, kAnn, held.back(), -1);
        held.pop_back();
      }
      for (const HeldAmounts& amounts : held) {
        cpus_by_day[utc_day(now)] += 60 * amounts.cpus;
        memory_by_day[utc_day(now)] += 60 * amounts.memory_mib;
      }
      if (any(1, 400) != 1) continue;
      const Instant then = now + minutes(1);
      const int days = any(1, 7);
      std::int64_t cpus = 0, memory = 0;
      for (Day day = utc_day(then) - (days - 1); day <= utc_day(then); day = day + 1) {
        cpus += cpus_by_day[day];
        memory += memory_by_day[day];
      }
      EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::cpus, days, then), cpus);
      EXPECT_EQ(windows.held_seconds(kAnn, WindowResource::memory, days, then), memory);
    }
  }
}

TEST(HeldWindows, StaysWithinNumbers) {
  HeldWindows windows;
  windows.hold(time_of("2026-01-01T00:00"), kAnn, {1, INT64_MAX / 2, 0, INT64_MAX / 2}, 1);
  EXPECT_GT(windows.held_seconds(kAnn, WindowResource::cpus, 366, time_of("2026-12-31T00:00")), 0);
  EXPECT_GT(windows.held_seconds(kAnn, WindowResource::memory, 366, time_of("2026-12-31T00:00")),
            0);
}

}  // namespace
}  // namespace lockstep::launcher
