#pragma once
// Cron expressions of five fields, with Vixie cron's meaning: minute, hour, day of month, month,
// day of week (0 and 7 are Sunday). Lists, ranges, steps of ranges, and names of months and days.
// If both day fields are restricted, a day that matches one of them matches.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/result.h"
#include "common/domain/targets/calendar.h"

namespace lockstep {

inline constexpr std::size_t kMaxCronBytes = 256;

struct Cron {
  // The matching values: bit n is set if n matches.
  std::uint64_t minutes = 0, hours = 0, days = 0, months = 0, week_days = 0;
  bool any_day = false, any_week_day = false;  // the field begins with *
  friend bool operator==(const Cron&, const Cron&) = default;
};

// Reads an expression. Returns invalid_argument with the field and its allowed values, also for an
// expression that never matches, such as 31 February.
Result<Cron> parse_cron(std::string_view expression);

// The first time at or after `from` that matches; nullopt: none within 100 years.
std::optional<LocalTime> next_match(const Cron& cron, LocalTime from);

}  // namespace lockstep
