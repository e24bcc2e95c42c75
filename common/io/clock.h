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

// The same, but also counts the time that the machine is suspended: for leases, whose other end
// runs on.
class SleeplessClock final : public Clock {
 public:
  SleeplessClock();
  Instant now() override;

 private:
  std::int64_t offset_ns_ = 0;
};

// The machine's wall clock, which people and NTP set: only to compare it with another machine's.
Instant wall_clock();

// Since the machine was booted, sleep included. Containers share it: it never goes back within a
// boot.
Duration since_boot();

}  // namespace lockstep::io
