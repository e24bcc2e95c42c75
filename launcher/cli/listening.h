#pragma once
// Measures how long a client really listened for answers. Time in which it could not listen,
// because a slow reader blocked its output or the process was stopped, does not count as the
// launcher's silence. It reads no clock.

#include <algorithm>

#include "common/base/time.h"

namespace lockstep::cli {

class Listening {
 public:
  // What comes meanwhile is handled in the next turn, so that one turn counts for no more than the
  // loop ever waits.
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
