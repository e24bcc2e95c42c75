#include "launcher/core/memory/clock_meter.h"

#include <algorithm>

namespace lockstep::launcher {

namespace {

constexpr Duration kLongestDelay = seconds(30);
constexpr Duration kLongestPause = minutes(2);  // between an acknowledgement and a heartbeat
// The drift of two clocks between the oldest and the newest sample.
constexpr Duration kDriftOfSamples = milliseconds(2);

}  // namespace

void ClockMeter::add(const Heartbeat& beat, Instant now) {
  if (beat.wall_clock.ns == 0 || beat.acked.ns == 0 || beat.acked_at.ns == 0) return;
  const Duration here = now - beat.acked;
  const Duration there = beat.wall_clock - beat.acked_at;
  const Duration delay = here - there;
  const bool is_possible = there >= Duration::zero() && here <= kLongestPause &&
                           delay >= Duration::zero() && delay <= kLongestDelay;
  if (!is_possible) return;
  const Duration ahead = ((beat.acked_at - beat.acked) + (beat.wall_clock - now)) / 2;
  const ClockOffset sample{ahead, delay / 2};
  const auto known = offset();
  const bool was_set = known && std::chrono::abs(sample.ahead - known->ahead) >
                                    sample.uncertainty + known->uncertainty + kDriftOfSamples;
  if (was_set) count_ = next_ = 0;
  samples_[next_] = sample;
  next_ = (next_ + 1) % kSamples;
  count_ = std::min(count_ + 1, kSamples);
}

std::optional<ClockOffset> ClockMeter::offset() const {
  if (count_ == 0) return std::nullopt;
  return *std::min_element(
      samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(count_),
      [](const ClockOffset& a, const ClockOffset& b) { return a.uncertainty < b.uncertainty; });
}

}  // namespace lockstep::launcher
