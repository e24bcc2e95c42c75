#include "launcher/daemon/blobs/peer_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockstep::launcher {
namespace {

constexpr Instant kStart{1'000'000'000'000};
const Digest kTree = sha256("tree");

bool everybody(NodeId, NodeId) { return true; }

struct PeerDirectoryTest : ::testing::Test {
  PeerDirectory::Answer find(std::uint64_t node, Instant now = kStart, std::uint16_t port = 7000) {
    return directory.find(now, NodeId(node), {kTree, port}, reach);
  }
  static std::set<std::uint64_t> ids(const PeerDirectory::Answer& answer) {
    std::set<std::uint64_t> found;
    for (const auto& peer : answer.peers) found.insert(peer.node.value);
    return found;
  }
  PeerDirectory directory;
  PeerDirectory::Reach reach = everybody;
};

TEST_F(PeerDirectoryTest, TheFirstSixteenAreTheCoreAndKnowEachOther) {
  for (std::uint64_t node = 1; node <= 20; ++node) EXPECT_EQ(find(node).core, node <= 16) << node;
  const auto again = find(3);
  EXPECT_TRUE(again.core) << "its place is kept while it fetches";
  EXPECT_EQ(again.peers.size(), 15u);
  EXPECT_TRUE(std::all_of(again.peers.begin(), again.peers.end(),
                          [](const auto& peer) { return peer.core && peer.fetching; }));
}

TEST_F(PeerDirectoryTest, LaterOnesHaveAFewThatBeganBeforeThemAndNobodyWaitsInACircle) {
  for (std::uint64_t node = 1; node <= 200; ++node) {
    const auto answer = find(node);
    if (node <= 16) continue;
    EXPECT_FALSE(answer.core);
    EXPECT_EQ(answer.peers.size(), kEarlierPeers);
    for (const auto& peer : answer.peers) EXPECT_LT(peer.node.value, node);
  }
  EXPECT_EQ(ids(find(150)), ids(find(150))) << "another choice each time";
}

TEST_F(PeerDirectoryTest, WhoHasItAllIsNamedToOthersAndIsNotOfTheCoreAnyMore) {
  find(1);
  directory.take(NodeId(1), {kTree, true, 5, {}});
  const auto answer = find(2, kStart + seconds(3600));
  EXPECT_TRUE(answer.core);
  ASSERT_EQ(answer.peers.size(), 1u);
  EXPECT_FALSE(answer.peers[0].fetching);
  EXPECT_EQ(answer.peers[0].port, 7000);
  for (std::uint64_t node = 3; node < 60; ++node) {
    find(node);
    directory.take(NodeId(node), {kTree, true, 5, {}});
  }
  EXPECT_LE(find(100).peers.size(), kWholePeers + kPeerCore);
}

TEST_F(PeerDirectoryTest, WhoFailedOrWasSilentOrServesNobodyIsNotNamed) {
  find(1);
  directory.take(NodeId(1), {kTree, false, 5, {}});
  find(2, kStart, 0);
  EXPECT_TRUE(find(3).peers.empty());
  EXPECT_TRUE(find(4, kStart + kFetchingFor).peers.empty());
}

TEST_F(PeerDirectoryTest, WhoCannotBeReachedIsNeitherNamedNorTold) {
  find(1);
  find(2);
  reach = [](NodeId, NodeId peer) { return peer.value != 1; };
  const auto answer = find(3);
  EXPECT_EQ(ids(answer), std::set<std::uint64_t>{2});
  EXPECT_EQ(answer.to_tell, std::vector{NodeId(2)});
}

TEST_F(PeerDirectoryTest, APeerIsToldOfTheAskerNowAndThen) {
  find(1);
  EXPECT_EQ(find(2).to_tell.size(), 1u);
  EXPECT_TRUE(find(2, kStart + seconds(1)).to_tell.empty());
  find(1, kStart + seconds(2));
  std::size_t told = 0;
  for (int i = 1; i <= 60; ++i) {
    find(1, kStart + seconds(i));
    told += find(2, kStart + seconds(i)).to_tell.size();
  }
  EXPECT_GE(told, 3u);
  EXPECT_LE(told, 6u);
}

TEST_F(PeerDirectoryTest, TrafficIsCountedOnBothSidesAndLiesAreRemembered) {
  FetchReport report{
      kTree, true, 10, {{NodeId(2), 30, "", false}, {NodeId(3), 1, "bad blob", true}}};
  for (int fetch = 0; fetch < 2; ++fetch) {
    for (const std::uint64_t node : {2, 3, 1}) find(node);
    EXPECT_EQ(directory.take(NodeId(1), report), report);
  }
  EXPECT_EQ(directory.traffic(NodeId(1)), (BlobTraffic{20, 62, 0, 0, ""}));
  EXPECT_EQ(directory.traffic(NodeId(2)), (BlobTraffic{0, 0, 60, 0, ""}));
  EXPECT_EQ(directory.traffic(NodeId(3)), (BlobTraffic{0, 0, 2, 2, "bad blob"}));
  EXPECT_EQ(directory.traffic(NodeId(9)), BlobTraffic{});
}

TEST_F(PeerDirectoryTest, ANodeIsBelievedOnlyOfPeersThatItWasToldOfForThatTree) {
  find(2);
  find(1);  // told of 2
  find(3);  // told of 1 and 2
  const FetchReport::Share of_two{NodeId(2), 30, "bad blob", true};
  const FetchReport::Share foreign{NodeId(3), 1'000, "a lie", true};
  const FetchReport::Share nobody{NodeId(999), 1'000, "a lie", true};
  const FetchReport other_tree{sha256("another"), true, 0, {of_two}};
  EXPECT_TRUE(directory.take(NodeId(1), other_tree).peers.empty());
  const FetchReport report{kTree, true, 0, {foreign, of_two, of_two, nobody}};
  EXPECT_EQ(directory.take(NodeId(1), report).peers, std::vector{of_two})
      << "once, and of no others";
  EXPECT_TRUE(directory.take(NodeId(1), report).peers.empty()) << "the same report again";
  EXPECT_EQ(directory.traffic(NodeId(2)), (BlobTraffic{0, 0, 30, 1, "bad blob"}));
  for (const std::uint64_t node : {3, 999})
    EXPECT_EQ(directory.traffic(NodeId(node)), BlobTraffic{}) << node;
}

TEST_F(PeerDirectoryTest, TreesAndTheirNodesAreBounded) {
  for (std::uint64_t node = 1; node <= kMaxNodesOfTree + 5; ++node) find(node);
  EXPECT_FALSE(find(kMaxNodesOfTree + 5).core);
  for (std::size_t i = 0; i <= kMaxPeerTrees; ++i)
    directory.find(kStart + seconds(1), NodeId(1), {sha256(std::to_string(i)), 1}, reach);
  EXPECT_TRUE(find(7777).peers.empty()) << "the tree of longest ago is forgotten";
}

}  // namespace
}  // namespace lockstep::launcher
