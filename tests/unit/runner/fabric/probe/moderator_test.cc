// Node rank 0 leads the probe to an end, whoever does not answer.
#include "runner/fabric/probe/moderator.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

class ModeratorTest : public ::testing::Test {
 protected:
  void make(int count, int per_host = 1) {
    std::vector<ProbedNode> nodes;
    for (int node = 0; node < count; ++node)
      nodes.push_back({"h" + std::to_string(node / per_host), address(node), std::nullopt, {}});
    moderator.emplace(std::move(nodes), 1, now);
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
  Moderator::Step plan_all(int count) {
    for (int node = 0; node < count; ++node) {
      const auto step = moderator->take(now, offer(node));
      EXPECT_EQ(step.has_offers, node == count - 1);
    }
    return moderator->begin(now, std::nullopt);
  }

  Instant now{1'000'000'000};
  std::optional<Moderator> moderator;
};

TEST_F(ModeratorTest, LeadsFromOffersToAChoice) {
  make(3);
  EXPECT_EQ(moderator->next_deadline(), now + kOffersWithin);
  const auto planned = plan_all(3);
  ASSERT_EQ(planned.plans.size(), 3U);
  EXPECT_EQ(moderator->next_deadline(), now + kFindingsWithin);
  std::optional<ProbeOutcome> outcome;
  for (const auto& [node, plan] : planned.plans) {
    EXPECT_EQ(plan.peers.size(), 2U);
    EXPECT_EQ(plan.key, "") << "it goes ahead";
    EXPECT_EQ(plan.peers[0].offer.fingerprint, "");
    EXPECT_FALSE(outcome);
    outcome = moderator->take(now, findings(node, plan)).outcome;
  }
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->failed_on, -1);
  EXPECT_EQ(outcome->result.chosen.size(), 3U);
  EXPECT_TRUE(moderator->is_complete());
  EXPECT_EQ(moderator->next_deadline(), Instant::never());
}

TEST_F(ModeratorTest, WaitsForNobodyForEver) {
  make(3);
  moderator->take(now, offer(0));
  moderator->take(now, offer(2));
  EXPECT_FALSE(moderator->expire(now + kOffersWithin - Duration(1)).has_offers);
  now = now + kOffersWithin;
  EXPECT_TRUE(moderator->expire(now).has_offers);
  EXPECT_FALSE(moderator->is_complete());
  const auto planned = moderator->begin(now, std::nullopt);
  ASSERT_EQ(planned.plans.size(), 2U);
  EXPECT_EQ(planned.plans[1].first, 2);
  EXPECT_FALSE(moderator->take(now, offer(1)).has_offers) << "too late";
  moderator->take(now, findings(0, planned.plans[0].second));
  now = now + kFindingsWithin;
  const auto end = moderator->expire(now);
  ASSERT_TRUE(end.outcome);
  EXPECT_EQ(end.outcome->result.chosen.size(), 3U);
  EXPECT_EQ(end.outcome->result.chosen[1].address, address(1));
  EXPECT_FALSE(moderator->is_complete());
  EXPECT_FALSE(moderator->expire(now + seconds(100)).outcome);
}

TEST_F(ModeratorTest, ANodeThatIsNotReachedIsNamedThoughItSaysNothing) {
  make(3);
  const auto planned = plan_all(3);
  for (int node : {0, 1}) {
    ProbeFindings found = findings(node, planned.plans[static_cast<std::size_t>(node)].second);
    for (PathFinding& path : found.paths)
      if (path.peer == 2) path.state = PathState::large_packets_lost;
    moderator->take(now, found);
  }
  now = now + kFindingsWithin;
  const auto end = moderator->expire(now);
  ASSERT_TRUE(end.outcome);
  EXPECT_EQ(end.outcome->failed_on, 2);
}

TEST_F(ModeratorTest, WhatIsKnownIsNotProbedAgain) {
  make(2);
  moderator->take(now, offer(0));
  moderator->take(now, offer(1));
  ProbeOutcome known;
  known.result.cached = true;
  const auto step = moderator->begin(now, known);
  EXPECT_TRUE(step.plans.empty());
  ASSERT_TRUE(step.outcome);
  EXPECT_TRUE(step.outcome->result.cached);
}

TEST_F(ModeratorTest, NodesOfOneHostAndThoseWithoutAnAddressHaveNoPlan) {
  make(4, 2);
  for (int node = 0; node < 4; ++node) {
    ProbeOffer made = offer(node);
    if (node == 3) made.candidates.clear();
    moderator->take(now, made);
  }
  const auto planned = moderator->begin(now, std::nullopt);
  ASSERT_EQ(planned.plans.size(), 3U);
  EXPECT_EQ(planned.plans[0].second.peers.size(), 1U);
  EXPECT_EQ(planned.plans[2].second.peers.size(), 2U);

  make(2);
  for (int node : {0, 1}) {
    ProbeOffer made = offer(node);
    made.candidates.clear();
    moderator->take(now, made);
  }
  EXPECT_TRUE(moderator->begin(now, std::nullopt).outcome) << "nobody dials";
}

TEST_F(ModeratorTest, DoublesAndForeignNumbersChangeNothing) {
  make(2);
  moderator->take(now, offer(-1));
  moderator->take(now, offer(2));
  moderator->take(now, offer(0));
  ProbeOffer other = offer(0);
  other.port = 1;
  moderator->take(now, other);
  EXPECT_EQ(moderator->nodes()[0].offer->port, 40'000);
  EXPECT_FALSE(moderator->take(now, ProbeFindings{0, {}}).outcome) << "too early";
  EXPECT_TRUE(moderator->take(now, offer(1)).has_offers);
  const auto planned = moderator->begin(now, std::nullopt);
  EXPECT_TRUE(moderator->begin(now, std::nullopt).plans.empty());
  moderator->take(now, ProbeFindings{7, {}});
  moderator->take(now, findings(0, planned.plans[0].second));
  EXPECT_FALSE(moderator->take(now, ProbeFindings{0, {}}).outcome) << "doubled";
  EXPECT_TRUE(moderator->take(now, findings(1, planned.plans[1].second)).outcome);
}

}  // namespace
}  // namespace lockstep::runner
