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
  // Nothing of a stall counts: it may have begun right after the last poll. One that follows on
  // another is an overloaded launcher, whose clocks must not stand still: one interval counts.
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
