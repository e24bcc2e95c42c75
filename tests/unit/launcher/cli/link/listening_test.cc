// Time counts as silence only while it was listened.

#include "launcher/cli/link/listening.h"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

Instant at(int seconds_later) { return Instant{} + seconds(seconds_later); }

TEST(Listening, TurnsAddUp) {
  Listening listening(at(0), seconds(1));
  for (int second = 1; second <= 5; ++second) listening.turn(at(second));
  EXPECT_EQ(listening.total(), seconds(5));
}

TEST(Listening, ATurnThatWasHeldUpCountsForNoMoreThanItsWait) {
  Listening listening(at(0), seconds(1));
  listening.turn(at(1));
  const Duration answered = listening.total();
  listening.turn(at(13));  // the reader of our output took its time
  EXPECT_EQ(listening.since(answered), seconds(1));
  listening.turn(at(14));
  EXPECT_EQ(listening.since(answered), seconds(2));
}

TEST(Listening, AClockThatWasSetBackTakesNothingAway) {
  Listening listening(at(10), seconds(1));
  listening.turn(at(11));
  listening.turn(at(5));
  listening.turn(at(6));
  EXPECT_EQ(listening.total(), seconds(2));
}

}  // namespace
}  // namespace lockstep::cli
