#include "launcher/words/said.h"

#include <gtest/gtest.h>

namespace lockstep::words {
namespace {

TEST(RanksText, RangesAreShortAndSorted) {
  EXPECT_EQ(ranks_text({3}), "rank 3");
  EXPECT_EQ(ranks_text({2, 0, 1}), "ranks 0–2");
  EXPECT_EQ(ranks_text({0, 2}), "ranks 0 and 2");
  EXPECT_EQ(ranks_text({0, 2, 5, 6, 7, 2}), "ranks 0, 2 and 5–7");
  EXPECT_EQ(ranks_text({0, 2, 4, 6, 8, 10, 12, 14, 15}), "ranks 0, 2, 4, 6, 8, 10 and 3 more");
  EXPECT_EQ(ranks_text({}), "no rank");
}

TEST(LastingText, SecondsFirst) {
  EXPECT_EQ(lasting_text(milliseconds(130'900)), "130 s");
  EXPECT_EQ(lasting_text(minutes(10)), "10m00s");
  EXPECT_EQ(lasting_text(minutes(125)), "2h05m");
  EXPECT_EQ(lasting_text(Duration(-5)), "0 s");
}

TEST(Shown, OtherPeoplesWordsAreOneSafeLine) {
  EXPECT_EQ(shown("a\nb\x1b[31m"), "a b?[31m");
  EXPECT_LE(shown(std::string(10'000, 'x')).size(), kShownTextBytes + 3);
}

TEST(NodeName, IsANumberWhereNobodyKnowsIt) {
  EXPECT_EQ(node_name({"j", {}}, 3), "node 3");
  EXPECT_EQ(node_name({"j", [](int) { return std::string("n\x07"); }}, 3), "n?");
}

}  // namespace
}  // namespace lockstep::words
