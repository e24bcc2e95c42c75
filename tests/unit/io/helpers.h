#pragma once
// What the tests of common/io share: a temporary directory that cleans up after itself, and turning
// a loop until a condition holds.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <functional>
#include <string>

#include "common/io/clock.h"
#include "common/io/event_loop.h"
#include "common/io/file_system.h"

namespace lockstep::io {

class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/lockstep-io-test-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TempDir() { EXPECT_TRUE(remove_tree(path_)); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Turns the loop until `condition` holds; false when `limit` has passed first.
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
