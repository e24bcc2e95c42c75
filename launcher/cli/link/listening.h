#pragma once
// Counts how long an event loop has listened for answers. While we write to a slow reader of our
// output, or are stopped, we do not listen, and a missing answer in that time does not mean that
// the other end is down. It reads no clock.

#include <algorithm>

#include "common/base/time.h"

namespace lockstep::cli {

class Listening {
 public:
  // Messages that arrive while we do not listen are handled in the next turn. So one turn counts at
  // most `longest_turn`, the longest wait of the loop.
  Listening(Instant now, Duration longest_turn) : last_turn_(now), longest_turn_(longest_turn) {}

  void turn(Instant now) {
    total_ += std::clamp(now - last_turn_, Duration{}, longest_turn_);
    last_turn_ = now;
  }
  Duration total() const { return total_; }
  Duration since(Duration total_then) const { return total_ - total_then; }

 private:
  Instant last_turn_;
  Duration longest_turn_;
  Duration total_{};
};

}  // namespace lockstep::cli
