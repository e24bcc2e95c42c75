// Where the clock of a zone is set: what it skips fires when it skips, and what it shows twice
// fires the first time. The moments are those of 2025, of 30 zones, as zdump prints them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/domain/calendar.h"
#include "launcher/schedules/next_fire.h"
#include "tests/unit/launcher/schedules/zones.h"

namespace lockstep::launcher {
namespace {

using test::in_utc;
using test::machine_zones;
using test::utc_text;

struct ZoneOf2025 {
  const char* zone;
  const char *skipped, *skips_at;  // a local time that does not come, and the moment instead
  const char *twice, *first;       // a local time that comes twice, and the first of the two
};

constexpr ZoneOf2025 kZones[] = {
    {"Europe/Berlin", "2025-03-30T02:30", "2025-03-30T01:00:00", "2025-10-26T02:30",
     "2025-10-26T00:30:00"},
    {"Europe/London", "2025-03-30T01:30", "2025-03-30T01:00:00", "2025-10-26T01:30",
     "2025-10-26T00:30:00"},
    {"Europe/Lisbon", "2025-03-30T01:30", "2025-03-30T01:00:00", "2025-10-26T01:30",
     "2025-10-26T00:30:00"},
    {"Europe/Dublin", "2025-03-30T01:30", "2025-03-30T01:00:00", "2025-10-26T01:30",
     "2025-10-26T00:30:00"},
    {"Europe/Athens", "2025-03-30T03:30", "2025-03-30T01:00:00", "2025-10-26T03:30",
     "2025-10-26T00:30:00"},
    {"Europe/Kyiv", "2025-03-30T03:30", "2025-03-30T01:00:00", "2025-10-26T03:30",
     "2025-10-26T00:30:00"},
    {"Atlantic/Azores", "2025-03-30T00:30", "2025-03-30T01:00:00", "2025-10-26T00:30",
     "2025-10-26T00:30:00"},
    {"Antarctica/Troll", "2025-03-30T02:30", "2025-03-30T01:00:00", "2025-10-26T02:30",
     "2025-10-26T00:30:00"},
    {"America/New_York", "2025-03-09T02:30", "2025-03-09T07:00:00", "2025-11-02T01:30",
     "2025-11-02T05:30:00"},
    {"America/Chicago", "2025-03-09T02:30", "2025-03-09T08:00:00", "2025-11-02T01:30",
     "2025-11-02T06:30:00"},
    {"America/Denver", "2025-03-09T02:30", "2025-03-09T09:00:00", "2025-11-02T01:30",
     "2025-11-02T07:30:00"},
    {"America/Los_Angeles", "2025-03-09T02:30", "2025-03-09T10:00:00", "2025-11-02T01:30",
     "2025-11-02T08:30:00"},
    {"America/Anchorage", "2025-03-09T02:30", "2025-03-09T11:00:00", "2025-11-02T01:30",
     "2025-11-02T09:30:00"},
    {"America/Halifax", "2025-03-09T02:30", "2025-03-09T06:00:00", "2025-11-02T01:30",
     "2025-11-02T04:30:00"},
    {"America/St_Johns", "2025-03-09T02:30", "2025-03-09T05:30:00", "2025-11-02T01:30",
     "2025-11-02T04:00:00"},
    // At midnight.
    {"America/Havana", "2025-03-09T00:30", "2025-03-09T05:00:00", "2025-11-02T00:30",
     "2025-11-02T04:30:00"},
    {"Africa/Cairo", "2025-04-25T00:30", "2025-04-24T22:00:00", "2025-10-30T23:30",
     "2025-10-30T20:30:00"},
    {"Asia/Beirut", "2025-03-30T00:30", "2025-03-29T22:00:00", "2025-10-25T23:30",
     "2025-10-25T20:30:00"},
    // The day before.
    {"America/Nuuk", "2025-03-29T23:30", "2025-03-30T01:00:00", "2025-10-25T23:30",
     "2025-10-26T00:30:00"},
    {"America/Scoresbysund", "2025-03-29T23:30", "2025-03-30T01:00:00", "2025-10-25T23:30",
     "2025-10-26T00:30:00"},
    {"Asia/Jerusalem", "2025-03-28T02:30", "2025-03-28T00:00:00", "2025-10-26T01:30",
     "2025-10-25T22:30:00"},
    // An hour back for Ramadan.
    {"Africa/Casablanca", "2025-04-06T02:30", "2025-04-06T02:00:00", "2025-02-23T02:30",
     "2025-02-23T01:30:00"},
    // In the south autumn comes first.
    {"America/Santiago", "2025-09-07T00:30", "2025-09-07T04:00:00", "2025-04-05T23:30",
     "2025-04-06T02:30:00"},
    {"Pacific/Easter", "2025-09-06T22:30", "2025-09-07T04:00:00", "2025-04-05T21:30",
     "2025-04-06T02:30:00"},
    {"Australia/Sydney", "2025-10-05T02:30", "2025-10-04T16:00:00", "2025-04-06T02:30",
     "2025-04-05T15:30:00"},
    {"Australia/Adelaide", "2025-10-05T02:30", "2025-10-04T16:30:00", "2025-04-06T02:30",
     "2025-04-05T16:00:00"},
    {"Pacific/Auckland", "2025-09-28T02:30", "2025-09-27T14:00:00", "2025-04-06T02:30",
     "2025-04-05T13:30:00"},
    {"Pacific/Norfolk", "2025-10-05T02:30", "2025-10-04T15:00:00", "2025-04-06T02:30",
     "2025-04-05T14:30:00"},
    // By 45 minutes past, and by half an hour.
    {"Pacific/Chatham", "2025-09-28T03:15", "2025-09-27T14:00:00", "2025-04-06T03:15",
     "2025-04-05T13:30:00"},
    {"Australia/Lord_Howe", "2025-10-05T02:15", "2025-10-04T15:30:00", "2025-04-06T01:45",
     "2025-04-05T14:45:00"},
};

class DstTable : public testing::TestWithParam<ZoneOf2025> {
 protected:
  // Each year at this minute of this day.
  static Trigger cron_of(const std::string& local, const std::string& zone) {
    const LocalTime time = parse_local_time(local).value();
    const std::chrono::year_month_day date(day_of(time));
    return {CronTrigger{fmt::format("{} {} {} {} *", second_of_day(time) / 60 % 60,
                                    second_of_day(time) / 3600, static_cast<unsigned>(date.day()),
                                    static_cast<unsigned>(date.month()))},
            {},
            {},
            zone};
  }
  static Trigger daily_at(const std::string& local, const std::string& zone) {
    const LocalTime time = parse_local_time(local).value();
    Recurrence recurrence;
    recurrence.hours = {static_cast<int>(second_of_day(time) / 3600)};
    recurrence.minutes = {static_cast<int>(second_of_day(time) / 60 % 60)};
    return {recurrence, parse_local_time("2025-01-01T00:00").value(), {}, zone};
  }
  static std::string after(const Trigger& trigger, Instant time) {
    return utc_text(next_fire(trigger, in_utc("2025-01-01T00:00:00"), time, machine_zones()));
  }
};

TEST_P(DstTable, SkippedTimesFireWhenTheClockSkips) {
  const ZoneOf2025& row = GetParam();
  const Trigger cron = cron_of(row.skipped, row.zone), daily = daily_at(row.skipped, row.zone);
  const Instant moment = in_utc(row.skips_at);
  EXPECT_EQ(after(cron, in_utc("2025-01-01T00:00:00")), row.skips_at);
  EXPECT_EQ(after(cron, moment - Duration(1)), row.skips_at);
  EXPECT_TRUE(after(cron, moment).starts_with("2026-")) << after(cron, moment);
  EXPECT_EQ(after(daily, moment - std::chrono::hours(12)), row.skips_at);
  // The next day at the same local time, which is up to two hours later by the clock.
  const auto next = next_fire(daily, in_utc("2025-01-01T00:00:00"), moment, machine_zones());
  ASSERT_TRUE(next);
  EXPECT_GT(*next - moment, std::chrono::hours(21));
  EXPECT_LE(*next - moment, std::chrono::hours(25));
}

TEST_P(DstTable, RepeatedTimesFireTheFirstTimeOnly) {
  const ZoneOf2025& row = GetParam();
  const Trigger cron = cron_of(row.twice, row.zone), daily = daily_at(row.twice, row.zone);
  const Instant first = in_utc(row.first);
  EXPECT_EQ(after(cron, in_utc("2025-01-01T00:00:00")), row.first);
  EXPECT_EQ(after(daily, first - std::chrono::hours(12)), row.first);
  // However it is asked between the two, and after both.
  for (Duration later{0}; later <= std::chrono::hours(4); later += minutes(7)) {
    EXPECT_TRUE(after(cron, first + later).starts_with("2026-")) << later.count();
    const auto next =
        next_fire(daily, in_utc("2025-01-01T00:00:00"), first + later, machine_zones());
    ASSERT_TRUE(next);
    EXPECT_GT(*next - first, std::chrono::hours(23));
    EXPECT_LE(*next - first, std::chrono::hours(26));
  }
  // The machine's zones agree that it comes twice.
  const LocalTime local = parse_local_time(row.twice).value();
  EXPECT_EQ(machine_zones().local(row.zone, first), local);
  const bool comes_again = machine_zones().local(row.zone, first + minutes(30)) == local ||
                           machine_zones().local(row.zone, first + minutes(60)) == local ||
                           machine_zones().local(row.zone, first + minutes(120)) == local;
  EXPECT_TRUE(comes_again);
}

TEST_P(DstTable, HoursOfARecurrenceAreElapsedTime) {
  const ZoneOf2025& row = GetParam();
  Recurrence recurrence;
  recurrence.frequency = Frequency::hour;
  const Trigger hourly{recurrence, parse_local_time("2025-01-01T00:00").value(), {}, row.zone};
  for (const char* moment : {row.skips_at, row.first}) {
    Instant time = in_utc(moment) - std::chrono::hours(5);
    const auto begin = next_fire(hourly, in_utc("2025-01-01T00:00:00"), time, machine_zones());
    ASSERT_TRUE(begin);
    time = *begin;
    for (int i = 0; i < 10; ++i) {
      const auto next = next_fire(hourly, in_utc("2025-01-01T00:00:00"), time, machine_zones());
      ASSERT_TRUE(next);
      EXPECT_EQ(*next - time, std::chrono::hours(1));
      time = *next;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zones, DstTable, testing::ValuesIn(kZones), [](const auto& row) {
  std::string name = row.param.zone;
  for (char& c : name)
    if (c == '/') c = '_';
  return name;
});

TEST(ZonesWithoutChanges, FireOnceADay) {
  for (const char* zone : {"UTC", "Asia/Kolkata", "Asia/Tokyo", "Asia/Kathmandu", "America/Phoenix",
                           "Australia/Brisbane", "Africa/Johannesburg"}) {
    const Trigger trigger{CronTrigger{"30 2 * * *"}, {}, {}, zone};
    Instant time = in_utc("2025-01-01T00:00:00");
    for (int day = 0; day < 365; ++day) {
      const auto next = next_fire(trigger, in_utc("2025-01-01T00:00:00"), time, machine_zones());
      ASSERT_TRUE(next) << zone;
      if (day > 0) EXPECT_EQ(*next - time, std::chrono::hours(24)) << zone << " " << day;
      time = *next;
    }
  }
}

}  // namespace
}  // namespace lockstep::launcher
