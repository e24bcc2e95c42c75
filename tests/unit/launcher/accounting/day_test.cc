// Days, weeks and months of UTC.

#include "launcher/accounting/day.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/accounting/uses.h"

namespace lockstep::launcher {
namespace {

TEST(Day, BeginsAtMidnight) {
  const Day day = utc_day(test::time_of("2026-01-31T00:00"));
  EXPECT_EQ(to_string(day), "2026-01-31");
  EXPECT_EQ(utc_day(begin_of(day) - Duration(1)), day - 1);
  EXPECT_EQ(utc_day(begin_of(day + 1) - Duration(1)), day);
  EXPECT_EQ(to_string(utc_day(Instant{-1})), "1969-12-31");
  EXPECT_EQ(to_string(Day{0}), "1970-01-01");
}

TEST(Day, HasTheWeekOfIso8601) {
  const std::pair<const char*, const char*> cases[] = {
      {"2026-01-01", "2026-W01"}, {"2025-12-29", "2026-W01"}, {"2025-12-28", "2025-W52"},
      {"2024-12-30", "2025-W01"}, {"2021-01-03", "2020-W53"}, {"2021-01-04", "2021-W01"},
      {"2020-12-31", "2020-W53"}, {"2027-01-01", "2026-W53"}, {"2024-02-29", "2024-W09"},
      {"1970-01-01", "1970-W01"}};
  for (const auto& [day, week] : cases) EXPECT_EQ(week_label(parse_day(day).value()), week) << day;
  EXPECT_EQ(month_label(parse_day("2024-02-29").value()), "2024-02");
}

TEST(Day, IsReadAsItIsWritten) {
  for (const char* text : {"1970-01-01", "2024-02-29", "2100-12-31"})
    EXPECT_EQ(to_string(parse_day(text).value()), text);
  for (const char* text : {"", "2026", "2026-1-31", "2026-02-30", "2026-01-31T00:00", "31.01.2026",
                           "1969-12-31", "2101-01-01", "yesterday!"}) {
    const auto day = parse_day(text);
    ASSERT_FALSE(day) << text;
    EXPECT_EQ(day.error().message,
              "'" + std::string(text) + "' is not a day from 1970 to 2100; write it as 2026-01-31");
  }
}

}  // namespace
}  // namespace lockstep::launcher
