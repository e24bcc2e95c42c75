// Node rank 0 leads the probe to an end, whoever does not answer.
#include "runner/fabric/probe/coordinator.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

class CoordinatorTest : public ::testing::Test {
 protected:
  void make(int count, int per_host = 1) {
    std::vector<ProbedNode> nodes;
    for (int node = 0; node < count; ++node)
      nodes.push_back({"h" + std::to_string(node / per_host), address(node), std::nullopt, {}});
    coordinator.emplace(std::move(nodes), 1, now);
  }
  static std::string address(int node) { return "10.0.0." + std::to_string(node + 1); }
  static ProbeOffer offer(int node) {
    ProbeOffer offer;
    offer.node_rank = node;
    offer.fingerprint = "print" + std::to_string(node);
    offer.port = 40'000;
    offer.candidates.push_back({"eth0", address(node), 1500});
    return offer;
  }
  ProbeFindings findings(int node, const ProbePlan& plan, PathState state = PathState::reached) {
    ProbeFindings findings;
    findings.node_rank = node;
    for (const ProbePeer& peer : plan.peers) {
      PathFinding path;
      path.peer = peer.offer.node_rank;
      path.port = peer.offer.port;
      path.source = 0;
      path.from_address = address(node);
      path.state = state;
      findings.paths.push_back(path);
    }
    return findings;
  }
  // All offers, up to the plans.
  Coordinator::Step plan_all(int count) {
    for (int node = 0; node < count; ++node) {
      const auto step = coordinator->take(now, offer(node));
      EXPECT_EQ(step.has_offers, node == count - 1);
    }
    return coordinator->begin(now, std::nullopt);
  }

  Instant now{1'000'000'000};
  std::optional<Coordinator> coordinator;
};

TEST_F(CoordinatorTest, LeadsFromOffersToAChoice) {
  make(3);
  EXPECT_EQ(coordinator->next_deadline(), now + kOffersWithin);
  const auto planned = plan_all(3);
  ASSERT_EQ(planned.plans.size(), 3U);
  EXPECT_EQ(coordinator->next_deadline(), now + kFindingsWithin);
  std::optional<ProbeOutcome> outcome;
  for (const auto& [node, plan] : planned.plans) {
    EXPECT_EQ(plan.peers.size(), 2U);
    EXPECT_EQ(plan.key, "") << "it goes ahead";
    EXPECT_EQ(plan.peers[0].offer.fingerprint, "");
    EXPECT_FALSE(outcome);
    outcome = coordinator->take(now, findings(node, plan)).outcome;
  }
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failed_on, -1);
  EXPECT_EQ(outcome->result.chosen.size(), 3U);
  EXPECT_TRUE(coordinator->is_complete());
  EXPECT_EQ(coordinator->next_deadline(), Instant::never());
}

TEST_F(CoordinatorTest, WaitsForNobodyForEver) {
  make(3);
  coordinator->take(now, offer(0));
  coordinator->take(now, offer(2));
  EXPECT_FALSE(coordinator->expire(now + kOffersWithin - Duration(1)).has_offers);
  now = now + kOffersWithin;
  EXPECT_TRUE(coordinator->expire(now).has_offers);
  EXPECT_FALSE(coordinator->is_complete());
  const auto planned = coordinator->begin(now, std::nullopt);
  ASSERT_EQ(planned.plans.size(), 2U);
  EXPECT_EQ(planned.plans[1].first, 2);
  EXPECT_FALSE(coordinator->take(now, offer(1)).has_offers) << "too late";
  coordinator->take(now, findings(0, planned.plans[0].second));
  now = now + kFindingsWithin;
  const auto end = coordinator->expire(now);
  ASSERT_TRUE(end.outcome);
  EXPECT_EQ(end.outcome->result.chosen.size(), 3U);
  EXPECT_EQ(end.outcome->result.chosen[1].address, address(1));
  EXPECT_FALSE(coordinator->is_complete());
  EXPECT_FALSE(coordinator->expire(now + seconds(100)).outcome);
}

TEST_F(CoordinatorTest, ANodeThatIsNotReachedIsNamedThoughItSaysNothing) {
  make(3);
  const auto planned = plan_all(3);
  for (int node : {0, 1}) {
    ProbeFindings found = findings(node, planned.plans[static_cast<std::size_t>(node)].second);
    for (PathFinding& path : found.paths)
      if (path.peer == 2) path.state = PathState::large_packets_lost;
    coordinator->take(now, found);
  }
  now = now + kFindingsWithin;
  const auto end = coordinator->expire(now);
  ASSERT_TRUE(end.outcome);
  EXPECT_EQ(end.outcome->failed_on, 2);
}

TEST_F(CoordinatorTest, WhatIsKnownIsNotProbedAgain) {
  make(2);
  coordinator->take(now, offer(0));
  coordinator->take(now, offer(1));
  ProbeOutcome known;
  known.result.cached = true;
  const auto step = coordinator->begin(now, known);
  EXPECT_TRUE(step.plans.empty());
  ASSERT_TRUE(step.outcome);
  EXPECT_TRUE(step.outcome->result.cached);
}

TEST_F(CoordinatorTest, NodesOfOneHostAndThoseWithoutAnAddressHaveNoPlan) {
  make(4, 2);
  for (int node = 0; node < 4; ++node) {
    ProbeOffer made = offer(node);
    if (node == 3) made.candidates.clear();
    coordinator->take(now, made);
  }
  const auto planned = coordinator->begin(now, std::nullopt);
  ASSERT_EQ(planned.plans.size(), 3U);
  EXPECT_EQ(planned.plans[0].second.peers.size(), 1U);
  EXPECT_EQ(planned.plans[2].second.peers.size(), 2U);

  make(2);
  for (int node : {0, 1}) {
    ProbeOffer made = offer(node);
    made.candidates.clear();
    coordinator->take(now, made);
  }
  EXPECT_TRUE(coordinator->begin(now, std::nullopt).outcome) << "nobody dials";
}

TEST_F(CoordinatorTest, DoublesAndForeignNumbersChangeNothing) {
  make(2);
  coordinator->take(now, offer(-1));
  coordinator->take(now, offer(2));
  coordinator->take(now, offer(0));
  ProbeOffer other = offer(0);
  other.port = 1;
  coordinator->take(now, other);
  EXPECT_EQ(coordinator->nodes()[0].offer->port, 40'000);
  EXPECT_FALSE(coordinator->take(now, ProbeFindings{0, {}}).outcome) << "too early";
  EXPECT_TRUE(coordinator->take(now, offer(1)).has_offers);
  const auto planned = coordinator->begin(now, std::nullopt);
  EXPECT_TRUE(coordinator->begin(now, std::nullopt).plans.empty());
  coordinator->take(now, ProbeFindings{7, {}});
  coordinator->take(now, findings(0, planned.plans[0].second));
  EXPECT_FALSE(coordinator->take(now, ProbeFindings{0, {}}).outcome) << "doubled";
  EXPECT_TRUE(coordinator->take(now, findings(1, planned.plans[1].second)).outcome);
}

}  // namespace
}  // namespace lockstep::runner
