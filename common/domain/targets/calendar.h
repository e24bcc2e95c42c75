#pragma once
// LocalTime and the days of the calendar, which is the C++ library's and knows no zones.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace lockstep {

// The time on a clock of some time zone, as seconds since it showed 1970-01-01T00:00:00.
struct LocalTime {
  std::int64_t seconds = 0;
  static auto& bare(auto& s) { return s.seconds; }
  friend auto operator<=>(const LocalTime&, const LocalTime&) = default;
};
// "2026-03-29T02:30:00".
std::string to_string(LocalTime time);
// Reads the form that to_string() writes; the seconds may be missing, and a space may replace the
// T. Accepts the years 1970 to 2100.
Result<LocalTime> parse_local_time(std::string_view text);

inline constexpr std::int64_t kSecondsOfDay = 86'400;

inline std::chrono::sys_days day_of(LocalTime time) {
  return std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(time.seconds)));
}
inline std::int64_t second_of_day(LocalTime time) {
  const auto day = std::chrono::sys_seconds(day_of(time)).time_since_epoch().count();
  return time.seconds - day;
}
inline LocalTime at_second(std::chrono::sys_days day, std::int64_t second) {
  return {std::chrono::sys_seconds(day).time_since_epoch().count() + second};
}
inline int last_day_of(std::chrono::year_month month) {
  const std::chrono::year_month_day_last last{month.year(),
                                              std::chrono::month_day_last(month.month())};
  return static_cast<int>(static_cast<unsigned>(last.day()));
}

}  // namespace lockstep
