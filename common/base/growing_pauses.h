#pragma once
// Decides when to repeat a message that is still true: at once, then after pauses that double up to
// a longest one.

#include <algorithm>

#include "common/base/time.h"

namespace lockstep {

class GrowingPauses {
 public:
  GrowingPauses(Duration first, Duration longest) : first_(first), longest_(longest) { reset(); }

  // Whether it is time for the message; if so, the next pause begins.
  bool is_due(Instant now) {
    if (now < next_) return false;
    next_ = now + pause_;
    pause_ = std::min<Duration>(pause_ * 2, longest_);
    return true;
  }
  // Notes that the text was said now; the first pause begins.
  void said(Instant now) {
    reset();
    (void)is_due(now);
  }
  void reset() {
    next_ = {};
    pause_ = first_;
  }
  Instant next() const { return next_; }

 private:
  Duration first_, longest_, pause_{0};
  Instant next_;
};

}  // namespace lockstep
