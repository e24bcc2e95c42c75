#include "launcher/accounting/day.h"

#include <fmt/format.h>

#include "common/domain/calendar.h"

namespace lockstep::launcher {
namespace {

std::chrono::year_month_day date_of(Day day) {
  return std::chrono::sys_days(std::chrono::days(day.number));
}

}  // namespace

Day utc_day(Instant time) {
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::nanoseconds(time.ns));
  return {static_cast<std::int32_t>(day.count())};
}

Instant begin_of(Day day) { return Instant{} + std::chrono::days(day.number); }

std::string to_string(Day day) {
  const auto date = date_of(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string week_label(Day day) {
  // The week belongs to the year that has its Thursday.
  const std::chrono::sys_days date(std::chrono::days(day.number));
  const auto thursday =
      date - (std::chrono::weekday(date) - std::chrono::Monday) + std::chrono::days(3);
  const std::chrono::year year = std::chrono::year_month_day(thursday).year();
  const std::chrono::sys_days first(year / std::chrono::January / 1);
  return fmt::format("{:04}-W{:02}", static_cast<int>(year), (thursday - first).count() / 7 + 1);
}

std::string month_label(Day day) { return to_string(day).substr(0, 7); }

Result<Day> parse_day(std::string_view text) {
  const auto time = text.size() == 10 ? parse_local_time(std::string(text) + "T00:00")
                                      : Result<LocalTime>(Error{});
  if (!time)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is not a day from 1970 to 2100; write it as 2026-01-31",
                                  text.substr(0, 40)));
  return Day{static_cast<std::int32_t>(time->seconds / kSecondsOfDay)};
}

}  // namespace lockstep::launcher
