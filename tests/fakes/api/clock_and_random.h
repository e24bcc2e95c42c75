#pragma once
// A clock that stands still until a test sets it, and random numbers that are 1, 2, 3, …

#include "launcher/api/ports/clock_and_random.h"

namespace lockstep::test {

class FakeClockAndRandom final : public launcher::ClockAndRandom {
 public:
  Instant now() override { return time; }
  std::uint64_t random() override { return ++last_; }

  Instant time{1'700'000'000'000'000'000};

 private:
  std::uint64_t last_ = 0;
};

}  // namespace lockstep::test
