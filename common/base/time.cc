#include "common/base/time.h"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

namespace lockstep {

std::string to_string(Instant time) {
  const std::time_t whole = time.ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&whole, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     time.ns / 1'000'000 % 1000);
}

std::string format_duration(Duration duration) {
  const std::int64_t ms = duration.count() / 1'000'000;
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60'000) return fmt::format("{}.{}s", ms / 1000, ms / 100 % 10);
  const std::int64_t s = ms / 1000;
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

Duration parse_duration(const std::string& text) {
  constexpr Duration malformed{-1};
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0) || value > 1e9) return malformed;
  const std::string unit(end);
  double scale_s = 0;
  if (unit.empty() || unit == "s") scale_s = 1;
  if (unit == "ms") scale_s = 1e-3;
  if (unit == "m") scale_s = 60;
  if (unit == "h") scale_s = 3600;
  if (unit == "d") scale_s = 86400;
  if (scale_s == 0) return malformed;
  if (value * scale_s > 9e9) return malformed;
  return Duration(static_cast<std::int64_t>(value * scale_s * 1e9));
}

}  // namespace lockstep
