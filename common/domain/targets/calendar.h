#pragma once
// Days of the calendar and LocalTime. The calendar is the C++ library's, which knows no zones.

#include "common/base/time.h"
#include "common/domain/targets/schedule.h"

namespace lockstep {

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
