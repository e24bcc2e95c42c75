#pragma once
// All code reads the time through this header. SystemClock is monotone: wall time at construction
// plus the monotonic clock, so that a jump of the wall clock moves no deadline.

#include "common/base/time.h"

namespace lockstep::io {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
};

class SystemClock final : public Clock {
 public:
  // `not_before`: now() is never earlier (after a restart, the time of the last stored fact).
  explicit SystemClock(Instant not_before = {});
  Instant now() override;

 private:
  std::int64_t offset_ns_ = 0;
};

// A steady clock that also counts the time while the machine sleeps. For leases, because the other
// side does not sleep.
class BootTimeClock final : public Clock {
 public:
  BootTimeClock();
  Instant now() override;

 private:
  std::int64_t offset_ns_ = 0;
};

// The machine's wall clock, which people and NTP can set. Used to compare it with another
// machine's.
Instant wall_clock();

// The time since the machine was booted, sleep included. It is the same in all containers and never
// goes back within a boot.
Duration since_boot();

}  // namespace lockstep::io
