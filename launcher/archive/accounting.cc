#include "launcher/archive/accounting.h"

#include <algorithm>

namespace lockstep::archive {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;  // in nanoseconds
constexpr std::int64_t kDayMs = kDay / milliseconds(1);
constexpr std::uint64_t kMostMib = std::uint64_t{1} << 36;  // 64 EiB: no node has more

std::int64_t mebibytes_of(Bytes bytes) {
  return static_cast<std::int64_t>(std::min(bytes.count >> 20, kMostMib));
}

}  // namespace

std::map<std::int64_t, Use> use_of(const Allotment& allotment, Instant from, Instant to) {
  std::map<std::int64_t, Use> days;
  to = std::min(to, from + kLongestHeld);
  const auto cpus = static_cast<std::int64_t>(allotment.cpus.size());
  const auto gpus = static_cast<std::int64_t>(allotment.gpus.size());
  const std::int64_t mib = mebibytes_of(allotment.memory);
  // Whole milliseconds, of which each belongs to one day.
  std::int64_t begin = from.ns / kMillisecond;
  const std::int64_t end = to.ns / kMillisecond;
  while (begin < end) {
    const std::int64_t day = day_of({begin * kMillisecond});
    const std::int64_t until = std::min(end, (day + 1) * kDayMs);
    const std::int64_t held = until - begin;
    Use& use = days[day];
    use.cpu_ms += cpus * held;
    use.gpu_ms += gpus * held;
    use.memory_mib_s += (mib * held + 500) / 1'000;
    begin = until;
  }
  return days;
}

}  // namespace lockstep::archive
