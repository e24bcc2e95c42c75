#pragma once
// Helpers of the tests of common/io: a temporary directory that removes itself, and a function that
// turns a loop until a condition holds.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {

using test::TempDir;

// Turns the loop until `condition` holds; false if `limit` passes first.
inline bool turn_until(EventLoop& loop, const std::function<bool()>& condition,
                       Duration limit = seconds(20)) {
  SystemClock clock;
  const Instant end = clock.now() + limit;
  while (!condition()) {
    if (clock.now() > end) return false;
    loop.turn(milliseconds(5));
  }
  return true;
}

}  // namespace lockstep::io
