#pragma once
// The launcher's clock, which is the core's, and the kernel's random numbers.

#include "common/io/clock.h"
#include "common/io/process.h"
#include "launcher/api/ports/clock_and_random.h"

namespace lockstep::launcher {

class LauncherClock final : public ClockAndRandom {
 public:
  explicit LauncherClock(io::Clock& clock) : clock_(clock) {}
  Instant now() override { return clock_.now(); }
  std::uint64_t random() override { return io::random_u64(); }

 private:
  io::Clock& clock_;
};

}  // namespace lockstep::launcher
