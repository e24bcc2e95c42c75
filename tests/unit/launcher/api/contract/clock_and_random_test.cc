// What the clock and the random numbers promise the service
// (launcher/api/ports/clock_and_random.h).

#include "launcher/api/ports/clock_and_random.h"

#include <gtest/gtest.h>

#include <set>

#include "launcher/daemon/ports/launcher_clock.h"
#include "tests/fakes/api/clock_and_random.h"

namespace lockstep::launcher {
namespace {

class ClockAndRandomContract : public testing::TestWithParam<bool> {
 protected:
  ClockAndRandom& source() {
    if (GetParam()) return real_;
    return fake_;
  }

  io::SystemClock clock_;
  LauncherClock real_{clock_};
  test::FakeClockAndRandom fake_;
};

INSTANTIATE_TEST_SUITE_P(Of, ClockAndRandomContract, testing::Bool(), [](const auto& of) {
  return std::string(of.param ? "TheLauncher" : "TheFake");
});

TEST_P(ClockAndRandomContract, TimeNeverGoesBack) {
  Instant last = source().now();
  EXPECT_GT(last, Instant{});
  for (int i = 0; i < 1'000; ++i) {
    const Instant now = source().now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST_P(ClockAndRandomContract, NumbersDoNotRepeat) {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1'000; ++i) numbers.insert(source().random());
  EXPECT_EQ(numbers.size(), 1'000U);
}

}  // namespace
}  // namespace lockstep::launcher
