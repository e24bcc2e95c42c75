#include "launcher/accounting/attempt_use.h"

#include <algorithm>
#include <cmath>

namespace lockstep::launcher {
namespace {

constexpr double kMicros = 1e6;
constexpr double kMillisecondsOfHour = 3'600'000;
constexpr double kMostMicros = 9e18;

// What parts of one size hold together in each second, and have used in all.
struct Holding {
  std::int64_t nodes = 0, cpus = 0, gpus = 0, mebibytes = 0;
  std::int64_t measured_cpus = 0, measured_gpus = 0, measured_mebibytes = 0;
  std::int64_t used_cpu_seconds = 0, used_gpu_seconds = 0, used_mebibyte_seconds = 0;
  double price_per_hour = 0;
};

std::int64_t mebibytes_of(Bytes bytes) { return static_cast<std::int64_t>(bytes.count >> 20); }

std::int64_t whole_seconds(Duration time) {
  return std::max<std::int64_t>(std::chrono::floor<seconds>(time).count(), 0);
}

void add_part(Holding& holding, const HeldPart& part) {
  const std::int64_t cpus = std::max(part.cpus, 0), gpus = std::max(part.gpus, 0);
  const std::int64_t mebibytes = mebibytes_of(part.memory);
  ++holding.nodes;
  holding.cpus += cpus;
  holding.gpus += gpus;
  holding.mebibytes = bounded_sum(holding.mebibytes, mebibytes);
  if (part.price_per_hour > 0) holding.price_per_hour += part.price_per_hour;
  if (!part.used) return;
  holding.measured_cpus += cpus;
  holding.measured_gpus += gpus;
  holding.measured_mebibytes = bounded_sum(holding.measured_mebibytes, mebibytes);
  holding.used_cpu_seconds = bounded_sum(holding.used_cpu_seconds, whole_seconds(part.used->cpu));
  holding.used_gpu_seconds = bounded_sum(holding.used_gpu_seconds, whole_seconds(part.used->gpu));
  holding.used_mebibyte_seconds = bounded_sum(
      holding.used_mebibyte_seconds, std::max<std::int64_t>(part.used->memory_mib_seconds, 0));
}

// Of a total that grows evenly until `whole_ms`: as much as there is after `elapsed_ms`.
std::int64_t used_after(std::int64_t total, std::int64_t elapsed_ms, std::int64_t whole_ms) {
  if (elapsed_ms >= whole_ms) return total;
  const double share = static_cast<double>(elapsed_ms) / static_cast<double>(whole_ms);
  return std::min(total, static_cast<std::int64_t>(static_cast<double>(total) * share));
}

std::int64_t cost_after(double price_per_hour, std::int64_t elapsed_ms) {
  if (elapsed_ms == 0) return 0;
  const double micros =
      price_per_hour * kMicros * static_cast<double>(elapsed_ms) / kMillisecondsOfHour;
  return static_cast<std::int64_t>(std::min(std::floor(micros), kMostMicros));
}

// What has come together after `elapsed_ms` of `whole_ms`.
UsageSums sums_after(const Holding& holding, std::int64_t elapsed_ms, std::int64_t whole_ms) {
  UsageSums sums;
  sums.node_seconds = held_after(holding.nodes, elapsed_ms);
  sums.cpu_seconds = held_after(holding.cpus, elapsed_ms);
  sums.gpu_seconds = held_after(holding.gpus, elapsed_ms);
  sums.memory_mib_seconds = held_after(holding.mebibytes, elapsed_ms);
  sums.measured_cpu_seconds = held_after(holding.measured_cpus, elapsed_ms);
  sums.measured_gpu_seconds = held_after(holding.measured_gpus, elapsed_ms);
  sums.measured_memory_mib_seconds = held_after(holding.measured_mebibytes, elapsed_ms);
  sums.used_cpu_seconds = used_after(holding.used_cpu_seconds, elapsed_ms, whole_ms);
  sums.used_gpu_seconds = used_after(holding.used_gpu_seconds, elapsed_ms, whole_ms);
  sums.used_memory_mib_seconds = used_after(holding.used_mebibyte_seconds, elapsed_ms, whole_ms);
  sums.cost_micros = cost_after(holding.price_per_hour, elapsed_ms);
  return sums;
}

UsageSums difference(const UsageSums& later, const UsageSums& earlier) {
  UsageSums sums = later;
  for (const UsageField& field : usage_fields()) sums.*field.value -= earlier.*field.value;
  return sums;
}

std::int64_t milliseconds_of(Duration time) {
  return std::chrono::floor<milliseconds>(std::max(time, Duration::zero())).count();
}

void count_outcome(UsageSums& sums, Outcome outcome) {
  switch (outcome) {
    case Outcome::running: return;
    case Outcome::completed: ++sums.completed; return;
    case Outcome::failed: ++sums.failed; return;
    case Outcome::canceled: ++sums.canceled; return;
    case Outcome::retried: ++sums.retried; return;
  }
}

struct Splitter {
  const AttemptUse& use;
  const Instant end;  // until then it is counted
  UsageRows rows = {};

  UsageSums& row(Day day, const std::string& size) {
    return rows[{day, use.user, use.project, use.target, size}];
  }

  void add_holdings() {
    std::map<std::string, Holding> by_size;
    for (const HeldPart& part : use.parts) add_part(by_size[part.size], part);
    for (const auto& [size, holding] : by_size) add_days(size, holding);
  }
  void add_days(const std::string& size, const Holding& holding) {
    const Instant placed = *use.placed;
    const std::int64_t whole_ms = milliseconds_of(end - placed);
    UsageSums until_now;
    for (Day day = utc_day(placed); begin_of(day) < end; day = day + 1) {
      const Instant day_end = std::min(begin_of(day + 1), end);
      UsageSums later = sums_after(holding, milliseconds_of(day_end - placed), whole_ms);
      row(day, size) += difference(later, until_now);
      until_now = later;
    }
  }

  void count() {
    const std::string first = use.parts.empty() ? "" : use.parts.front().size;
    const Instant stopped_waiting = use.placed.value_or(end);
    if (use.waited_from && (use.placed || use.ended)) {
      UsageSums& sums = row(utc_day(stopped_waiting), first);
      ++sums.waits;
      sums.wait_seconds =
          bounded_sum(sums.wait_seconds, whole_seconds(stopped_waiting - *use.waited_from));
    }
    if (use.placed) ++row(utc_day(*use.placed), first).started;
    if (use.ended) count_outcome(row(utc_day(*use.ended), first), use.outcome);
  }
};

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::running: return "Running";
    case Outcome::completed: return "Completed";
    case Outcome::failed: return "Failed";
    case Outcome::canceled: return "Canceled";
    case Outcome::retried: return "Retried";
  }
  return "?";
}

UsageRows rows_of(const AttemptUse& use, Instant now) {
  Splitter splitter{use, use.ended.value_or(now)};
  if (use.placed && *use.placed < splitter.end) splitter.add_holdings();
  splitter.count();
  return std::move(splitter.rows);
}

Duration waited(const AttemptUse& use, Instant now) {
  if (!use.waited_from) return Duration::zero();
  const Instant until = use.placed.value_or(use.ended.value_or(now));
  return std::max(until - *use.waited_from, Duration::zero());
}

Duration elapsed(const AttemptUse& use, Instant now) {
  if (!use.placed) return Duration::zero();
  return std::max(use.ended.value_or(now) - *use.placed, Duration::zero());
}

}  // namespace lockstep::launcher
