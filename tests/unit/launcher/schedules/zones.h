#pragma once
// The machine's time zones, and times as texts, for tests of schedules.

#include <memory>
#include <optional>
#include <string>

#include "common/domain/schedule.h"
#include "common/io/time_zones.h"

namespace lockstep::launcher::test {

inline const TimeZones& machine_zones() {
  static const std::shared_ptr<const TimeZones> kZones = io::system_time_zones();
  return *kZones;
}

// "2026-03-29T00:30:00" in UTC.
inline Instant in_utc(const std::string& text) {
  return Instant{} + seconds(parse_local_time(text).value().seconds);
}
// "2026-03-29T00:30:00", or "never".
inline std::string utc_text(std::optional<Instant> time) {
  if (!time || *time == Instant::never()) return "never";
  const std::string text = lockstep::to_string(*time);
  return text.ends_with(".000Z") ? text.substr(0, text.size() - 5) : text;
}

}  // namespace lockstep::launcher::test
