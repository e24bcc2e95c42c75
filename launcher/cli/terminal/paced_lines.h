#pragma once
// Decides when to print a progress line if there is no status line (a pipe, a log file): first
// after kFirst, since short work needs no line, then every kBetween. It reads no clock.

#include "common/base/time.h"

namespace lockstep::cli {

class PacedLines {
 public:
  static constexpr Duration kFirst = seconds(5);
  static constexpr Duration kBetween = seconds(10);

  explicit PacedLines(Instant begun) : due_(begun + kFirst) {}
  // Returns true once for each line that is due.
  bool take(Instant now) {
    if (now < due_) return false;
    due_ = now + kBetween;
    return true;
  }

 private:
  Instant due_;
};

}  // namespace lockstep::cli
