// Who dials whom: all pairs of small gangs, a bounded number of peers in large ones.
#include "runner/fabric/probe/dial_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lockstep::runner {
namespace {

std::vector<std::string> hosts(int nodes, int per_host = 1) {
  std::vector<std::string> all;
  for (int node = 0; node < nodes; ++node) all.push_back("h" + std::to_string(node / per_host));
  return all;
}

const PlannedPeer* find(const PairPlan& plan, int from, int to) {
  for (const PlannedPeer& peer : plan[static_cast<std::size_t>(from)])
    if (peer.node == to) return &peer;
  return nullptr;
}

// How many are reached from node 0, over pairs that are tested.
int reached(const PairPlan& plan) {
  std::set<int> seen{0};
  std::vector<int> open{0};
  while (!open.empty()) {
    const int node = open.back();
    open.pop_back();
    for (const PlannedPeer& peer : plan[static_cast<std::size_t>(node)])
      if (peer.tested && seen.insert(peer.node).second) open.push_back(peer.node);
  }
  return static_cast<int>(seen.size());
}

TEST(PairPlanTest, SmallGangsTestAllPairsBothWays) {
  for (const int nodes : {2, 3, 4, kAllPairsUpTo}) {
    const PairPlan plan = plan_pairs({hosts(nodes)});
    for (int a = 0; a < nodes; ++a) {
      EXPECT_EQ(plan[static_cast<std::size_t>(a)].size(), static_cast<std::size_t>(nodes - 1));
      for (int b = 0; b < nodes; ++b) EXPECT_EQ(find(plan, a, b) != nullptr, a != b);
    }
  }
}

TEST(PairPlanTest, EachNodeSendsOneBurstAndTakesOne) {
  for (const int nodes : {2, 5, 100}) {
    const PairPlan plan = plan_pairs({hosts(nodes)});
    std::vector<int> taken(static_cast<std::size_t>(nodes));
    for (const auto& peers : plan) {
      EXPECT_EQ(std::count_if(peers.begin(), peers.end(), [](auto& p) { return p.burst; }), 1);
      for (const PlannedPeer& peer : peers)
        if (peer.burst) ++taken[static_cast<std::size_t>(peer.node)];
    }
    EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), nodes);
  }
}

TEST(PairPlanTest, NodesOfOneHostAreNoPair) {
  const PairPlan plan = plan_pairs({hosts(6, 2)});
  EXPECT_EQ(find(plan, 0, 1), nullptr);
  EXPECT_NE(find(plan, 0, 2), nullptr);
  EXPECT_EQ(plan[0].size(), 4U);
  for (const auto& peers : plan_pairs({hosts(3, 3)})) EXPECT_TRUE(peers.empty());
}

TEST(PairPlanTest, TheCostOfLargeGangsGrowsWithTheirNodes) {
  for (const int nodes : {kAllPairsUpTo + 1, 1'000, 10'000}) {
    const PairPlan plan = plan_pairs({hosts(nodes), {}, 7});
    std::size_t pairs = 0;
    for (const auto& peers : plan) {
      EXPECT_LE(peers.size(), kMostRingPeers);
      pairs += peers.size();
    }
    EXPECT_LE(pairs, static_cast<std::size_t>(nodes) * 2 * (1 + kRandomRings));
    EXPECT_EQ(reached(plan), nodes);
    for (int node = 0; node < nodes; ++node)
      for (const PlannedPeer& peer : plan[static_cast<std::size_t>(node)])
        EXPECT_NE(find(plan, peer.node, node), nullptr);
  }
}

TEST(PairPlanTest, AnotherAttemptHasOtherPairs) {
  EXPECT_EQ(plan_pairs({hosts(100), {}, 1}), plan_pairs({hosts(100), {}, 1}));
  EXPECT_NE(plan_pairs({hosts(100), {}, 1}), plan_pairs({hosts(100), {}, 2}));
}

TEST(PairPlanTest, ManyNodesOfOneHostDoNotOverwhelmTheNext) {
  const PairPlan plan = plan_pairs({hosts(400, 100), {}, 3});
  for (const auto& peers : plan) {
    EXPECT_GE(peers.size(), 1U);
    EXPECT_LE(peers.size(), kMostRingPeers);
  }
  EXPECT_GT(reached(plan), 1);
}

TEST(PairPlanTest, AllDialThePortOfTheFirst) {
  const PairPlan plan = plan_pairs({hosts(200), {}, 5, true});
  for (int node = 1; node < 200; ++node) ASSERT_NE(find(plan, node, 0), nullptr) << node;
  int untested = 0;
  for (int node = 1; node < 200; ++node) untested += find(plan, node, 0)->tested ? 0 : 1;
  EXPECT_GE(untested, 190);
  EXPECT_EQ(find(plan, 0, 0), nullptr);
}

TEST(PairPlanTest, WhoTakesNoPartIsDialledByNobody) {
  std::vector<bool> absent(5, false);
  absent[0] = absent[2] = true;
  const PairPlan plan = plan_pairs({hosts(5), absent, 0, true});
  EXPECT_TRUE(plan[0].empty());
  EXPECT_TRUE(plan[2].empty());
  for (const int node : {1, 3, 4}) {
    EXPECT_EQ(plan[static_cast<std::size_t>(node)].size(), 2U);
    EXPECT_EQ(find(plan, node, 2), nullptr);
    EXPECT_EQ(find(plan, node, 0), nullptr);
  }
}

}  // namespace
}  // namespace lockstep::runner
