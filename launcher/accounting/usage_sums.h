#pragma once
// What accounting adds up, of one day, or of many. Whole numbers: a sum over rows is the same in
// whatever order they are added. Sums that are too large stay at the largest number.

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::launcher {

struct UsageSums {
  // Attempts.
  std::int64_t started = 0;    // placed on this day
  std::int64_t completed = 0;  // ended on this day
  std::int64_t failed = 0;
  std::int64_t canceled = 0;
  std::int64_t retried = 0;  // ended, and another attempt of the job follows
  // Times that jobs waited to be placed, on the day on which that ended.
  std::int64_t waits = 0;
  std::int64_t wait_seconds = 0;
  // What was held, times seconds.
  std::int64_t node_seconds = 0;
  std::int64_t cpu_seconds = 0;
  std::int64_t gpu_seconds = 0;
  std::int64_t memory_mib_seconds = 0;
  // What was used; and of what was held, that of parts whose use is known.
  std::int64_t used_cpu_seconds = 0;
  std::int64_t used_gpu_seconds = 0;
  std::int64_t used_memory_mib_seconds = 0;
  std::int64_t measured_cpu_seconds = 0;
  std::int64_t measured_gpu_seconds = 0;
  std::int64_t measured_memory_mib_seconds = 0;
  std::int64_t cost_micros = 0;  // millionths of the unit in which sizes have prices

  UsageSums& operator+=(const UsageSums& other);
  friend bool operator==(const UsageSums&, const UsageSums&) = default;

  std::int64_t ended() const { return completed + failed + canceled + retried; }
};

// All of its fields, in their order. Names are those of columns, and stay.
struct UsageField {
  std::string_view name;
  std::int64_t UsageSums::*value;
  std::string_view meaning;
};
std::span<const UsageField> usage_fields();

// Products and sums that end at the largest number.
std::int64_t bounded_product(std::int64_t a, std::int64_t b);
std::int64_t bounded_sum(std::int64_t a, std::int64_t b);

// `rate` in each second, after `elapsed` (at least 0), rounded down. What two times differ by is
// what comes between them, so that parts of a time add up to the whole.
std::int64_t held_after(std::int64_t rate, std::int64_t elapsed_ms);

}  // namespace lockstep::launcher
