#include "common/io/clock.h"

#include <ctime>

namespace lockstep::io {
namespace {

std::int64_t read_clock_ns(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return static_cast<std::int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec;
}

}  // namespace

SystemClock::SystemClock(Instant not_before) {
  const std::int64_t monotonic = read_clock_ns(CLOCK_MONOTONIC);
  const std::int64_t wall = read_clock_ns(CLOCK_REALTIME);
  offset_ns_ = (wall < not_before.ns ? not_before.ns : wall) - monotonic;
}

Instant SystemClock::now() { return {offset_ns_ + read_clock_ns(CLOCK_MONOTONIC)}; }

BootTimeClock::BootTimeClock()
    : offset_ns_(read_clock_ns(CLOCK_REALTIME) - read_clock_ns(CLOCK_BOOTTIME)) {}

Instant BootTimeClock::now() { return {offset_ns_ + read_clock_ns(CLOCK_BOOTTIME)}; }

Instant wall_clock() { return {read_clock_ns(CLOCK_REALTIME)}; }

Duration since_boot() { return Duration(read_clock_ns(CLOCK_BOOTTIME)); }

}  // namespace lockstep::io
