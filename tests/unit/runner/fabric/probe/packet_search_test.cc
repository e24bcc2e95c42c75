// The largest packet that passes is found, whatever it is.
#include "runner/fabric/probe/packet_search.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep::runner {
namespace {

// Rounds that it took; packets up to `passes` are answered.
int search(PacketSearch& search, int passes) {
  int rounds = 0;
  for (; !search.is_over(); ++rounds) {
    EXPECT_LT(rounds, 10);
    if (rounds == 10) break;
    EXPECT_LE(static_cast<int>(search.sizes().size()), kSizesPerRound);
    const std::vector<int> sent = search.sizes();
    EXPECT_TRUE(std::is_sorted(sent.begin(), sent.end()));
    for (const int size : sent)
      if (size <= passes) search.heard(size);
    search.end_round();
  }
  return rounds;
}

TEST(PacketSearchTest, FindsAnySizeInAFewRounds) {
  for (const int full : {1500, 9000, 65'535})
    for (int passes = kSmallestPacket; passes <= full; passes += 1 + passes / 97) {
      PacketSearch of(full);
      EXPECT_LE(search(of, passes), 5) << full << " " << passes;
      EXPECT_EQ(of.largest(), passes) << full;
      EXPECT_EQ(of.passes_full(), passes >= full);
    }
}

TEST(PacketSearchTest, TheSizesThatTunnelsLeaveAreFound) {
  for (const int passes : {1280, 1350, 1400, 1420, 1450, 1476, 1480, 1492, 1499, 1500}) {
    PacketSearch of(1500);
    search(of, passes);
    EXPECT_EQ(of.largest(), passes);
  }
}

TEST(PacketSearchTest, EndsWhereNothingIsAnswered) {
  PacketSearch of(1500);
  EXPECT_EQ(search(of, 0), 1);
  EXPECT_EQ(of.largest(), 0);
}

TEST(PacketSearchTest, OddNumbersAreHarmless) {
  PacketSearch tiny(100);
  EXPECT_EQ(search(tiny, 10'000), 1);
  EXPECT_EQ(tiny.largest(), kSmallestPacket);
  PacketSearch huge(1 << 30);
  search(huge, 1400);
  EXPECT_EQ(huge.largest(), 1400);
  PacketSearch of(1500);
  of.heard(-5);
  of.heard(1'000'000);  // was not sent
  EXPECT_EQ(of.largest(), 0);
}

}  // namespace
}  // namespace lockstep::runner
