#pragma once
// Points in time and durations as plain values. A core never reads a clock: each input carries an
// Instant. An Instant counts nanoseconds since the Unix epoch. The clock (common/io/clock.h) starts
// at wall time and advances with the monotonic clock, so a jump of the wall clock moves no
// deadline.

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>

namespace lockstep {

using Duration = std::chrono::nanoseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Instant {
  std::int64_t ns = 0;  // nanoseconds since 1970-01-01T00:00:00Z

  friend auto operator<=>(const Instant&, const Instant&) = default;
  friend Instant operator+(Instant t, Duration d) { return {t.ns + d.count()}; }
  friend Instant operator-(Instant t, Duration d) { return {t.ns - d.count()}; }
  friend Duration operator-(Instant a, Instant b) { return Duration(a.ns - b.ns); }
  static constexpr Instant never() { return {INT64_MAX}; }
};

// The time as RFC 3339 in UTC with milliseconds: 2026-01-31T12:00:00.000Z
std::string to_string(Instant time);

// The duration for people: "1h02m", "3m10s", "12.5s", "8ms".
std::string format_duration(Duration duration);

// Parses "90" (seconds), "90s", "5m", "2h", "1d", "250ms". A negative result means that the text is
// malformed.
Duration parse_duration(const std::string& text);

}  // namespace lockstep
