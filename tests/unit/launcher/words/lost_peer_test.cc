#include "launcher/words/found/say_lost_peer.h"

#include <gtest/gtest.h>

#include "tests/unit/launcher/words/gang_of_four.h"

namespace lockstep::words {
namespace {

TEST(LostPeerWords, TellWhoWasBehindTheAddress) {
  LostPeer peer{"10.93.0.4", 3, RankEnd{3, 137, 9, true, false, true, {}}, false};
  const Said said = say(peer, 1, kTrain);
  EXPECT_EQ(said.what,
            "rank 1 failed after a connection of its own was closed: 10.93.0.4 is n3, where rank 3 "
            "had been killed by signal 9");
  EXPECT_EQ(said.remedy,
            "look at the rank that ended before it: `lockstep job logs train --rank 3`");
  peer.end = RankEnd{3, 2, 0, true, false, true, {}};
  EXPECT_EQ(say(peer, 1, kTrain).what,
            "rank 1 failed after a connection of its own was closed: 10.93.0.4 is n3, where rank 3 "
            "had exited with code 2");
  peer.end.reset();
  peer.left = true;
  EXPECT_EQ(say(peer, 1, kTrain).what,
            "rank 1 failed after a connection of its own was closed: 10.93.0.4 is n3, where all "
            "ranks had exited with code 0");
}

TEST(LostPeerWords, OfNobodyKnownOnlyTheAddress) {
  EXPECT_EQ(say(LostPeer{"10.93.0.4"}, 1, kTrain).what,
            "rank 1 failed after a connection of its own was closed: 10.93.0.4");
  EXPECT_EQ(say(LostPeer{}, 1, kTrain).what,
            "rank 1 failed after a connection of its own was closed");
}

}  // namespace
}  // namespace lockstep::words
