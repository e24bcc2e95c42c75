#include "launcher/core/liveness.h"

#include <algorithm>

namespace lockstep::launcher {

Instant PolledClock::advance(Instant now) {
  if (!first_) {
    first_ = now;
    last_ = now;
    return polled();
  }
  now = std::max(now, last_);
  const Duration late = (now - last_) - interval_;
  if (late > interval_ * 3 / 2) stalled_ += late;
  last_ = now;
  return polled();
}

Instant PolledClock::real(Instant polled) const {
  if (polled == Instant::never()) return polled;
  return polled + stalled_;
}

}  // namespace lockstep::launcher
