#pragma once
// Days of UTC, in which accounting counts: they have the same length everywhere, and a change of
// clocks moves no row.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::launcher {

struct Day {
  std::int32_t number = 0;  // since 1970-01-01, which is 0
  friend auto operator<=>(const Day&, const Day&) = default;
  friend Day operator+(Day day, int days) { return {day.number + days}; }
  friend Day operator-(Day day, int days) { return {day.number - days}; }
};

Day utc_day(Instant time);  // in which the time is
Instant begin_of(Day day);

std::string to_string(Day day);                // "2026-01-31"
std::string week_label(Day day);               // "2026-W05": the week of ISO 8601, from Monday
std::string month_label(Day day);              // "2026-01"
Result<Day> parse_day(std::string_view text);  // the form of to_string(), from 1970 to 2100

}  // namespace lockstep::launcher
