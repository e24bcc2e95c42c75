#pragma once
// The time and the random numbers of the service, which tests choose.

#include <cstdint>

#include "common/base/time.h"

namespace lockstep::launcher {

class ClockAndRandom {
 public:
  virtual ~ClockAndRandom() = default;
  virtual Instant now() = 0;  // the time; never earlier than a time that it returned before
  virtual std::uint64_t random() = 0;  // cannot be guessed; each call gives another number
};

}  // namespace lockstep::launcher
