#include "common/domain/targets/calendar.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr int kFirstYear = 1970, kLastYear = 2100;

// Returns the number that these bytes spell; -1: a byte is missing or is not a digit.
int digits(std::string_view text, std::size_t from, std::size_t count) {
  if (from + count > text.size()) return -1;
  int number = 0;
  for (const char c : text.substr(from, count)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

std::string to_string(LocalTime time) {
  const std::chrono::year_month_day date(day_of(time));
  const std::int64_t second = second_of_day(time);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     second / 3600, second / 60 % 60, second % 60);
}

Result<LocalTime> parse_local_time(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("'{}' {}; write a local time such as 2026-01-31T08:00:00, and its zone "
                    "as time_zone",
                    text.substr(0, 40), why));
  };
  const bool has_seconds = text.size() > 16;
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2);
  const int second = has_seconds ? digits(text, 17, 2) : 0;
  const bool has_shape = year >= 0 && month >= 0 && day >= 0 && hour >= 0 && minute >= 0 &&
                         second >= 0 && text[4] == '-' && text[7] == '-' &&
                         (text[10] == 'T' || text[10] == ' ') && text[13] == ':' &&
                         (!has_seconds || text[16] == ':');
  if (!has_shape) return bad("is not a date and time");
  if (text.size() > 19) return bad("has more than a date and time (no fraction, no offset)");
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return bad("is not in the calendar");
  if (year < kFirstYear || year > kLastYear)
    return bad(fmt::format("is not in the years {} to {}", kFirstYear, kLastYear));
  return at_second(std::chrono::sys_days(date), hour * 3600 + minute * 60 + second);
}

}  // namespace lockstep
