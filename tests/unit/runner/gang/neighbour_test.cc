// How a neighbour's standing changes with what it does.

#include "runner/gang/neighbour.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

constexpr Standing kAll[] = {Standing::expected, Standing::present, Standing::informed,
                             Standing::leaving,  Standing::refused, Standing::lost,
                             Standing::left,     Standing::expelled};

TEST(StandingTest, ALossIsReportedOnceWhateverComesAfter) {
  for (const Standing before : kAll) {
    const Standing lost = after_silence(before);
    EXPECT_TRUE(is_reported_lost(lost));
    for (const auto event : {after_frame, after_bye, after_answer, after_refusal, after_silence})
      EXPECT_TRUE(is_reported_lost(event(lost))) << static_cast<int>(before);
  }
  for (const Standing before : {Standing::expected, Standing::present, Standing::informed,
                                Standing::leaving, Standing::refused})
    EXPECT_FALSE(is_reported_lost(before)) << static_cast<int>(before);
}

TEST(StandingTest, OneThatIsRefusedIsNeverHeardAgain) {
  for (const Standing before : kAll) {
    const Standing refused = after_refusal(before);
    EXPECT_FALSE(is_listened_to(refused));
    EXPECT_FALSE(needs_us(refused));
    for (const auto event : {after_frame, after_bye, after_answer, after_refusal, after_silence})
      EXPECT_FALSE(is_listened_to(event(refused))) << static_cast<int>(before);
  }
}

// A network that is cut for longer than kNeighbourSilence, and comes back.
TEST(StandingTest, OneThatWasLostIsHeardAgainAndWaitedFor) {
  const Standing lost = after_silence(after_frame(Standing::expected));
  EXPECT_TRUE(is_listened_to(lost));
  EXPECT_TRUE(needs_us(after_frame(lost)));
  EXPECT_EQ(after_bye(lost), Standing::left);
}

TEST(StandingTest, OneThatSaidByeNeedsNothingMore) {
  for (const Standing before : kAll) EXPECT_FALSE(needs_us(after_bye(before))) << "leaves";
  EXPECT_FALSE(needs_us(after_silence(Standing::leaving)));
  EXPECT_FALSE(needs_us(after_answer(Standing::leaving)));
  EXPECT_FALSE(needs_us(after_frame(Standing::leaving)));
}

TEST(StandingTest, AnAnswerToOurByeIsRemembered) {
  EXPECT_EQ(after_answer(after_frame(Standing::expected)), Standing::informed);
  EXPECT_EQ(after_frame(Standing::informed), Standing::informed);
  EXPECT_TRUE(needs_us(Standing::informed)) << "until it has all that was said to it";
}

}  // namespace
}  // namespace lockstep::runner
