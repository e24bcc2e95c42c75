#pragma once
// The only door to time. SystemClock is monotone: wall time at construction plus the monotonic
// clock, so that a jump of the wall clock moves no deadline.

#include "common/base/time.h"

namespace lockstep::io {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
};

class SystemClock final : public Clock {
 public:
  // `not_before`: time never runs behind this (the last stored fact's stamp after a restart).
  explicit SystemClock(Instant not_before = {});
  Instant now() override;

 private:
  std::int64_t offset_ns_ = 0;
};

// The same, but time in which the machine sleeps counts too: for leases, whose other end does not
// sleep.
class SleeplessClock final : public Clock {
 public:
  SleeplessClock();
  Instant now() override;

 private:
  std::int64_t offset_ns_ = 0;
};

// As the machine's wall clock stands, which people and NTP set: to compare it with another's.
Instant wall_clock();

// Since the machine was booted, sleep included. Containers share it: it never goes back within a
// boot.
Duration since_boot();

}  // namespace lockstep::io
