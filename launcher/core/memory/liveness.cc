#include "launcher/core/memory/liveness.h"

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
  const bool stall = late > interval_ / 4;
  // The whole time of a stall is left out, because it may have begun right after the last poll. If
  // stalls follow one another, the launcher is overloaded, and one interval of each is counted:
  // otherwise the clock would stand still.
  if (stall) stalled_ += stalled_before_ ? late : now - last_;
  stalled_before_ = stall;
  last_ = now;
  return polled();
}

Instant PolledClock::real(Instant polled) const {
  if (polled == Instant::never()) return polled;
  return polled + stalled_;
}

}  // namespace lockstep::launcher
