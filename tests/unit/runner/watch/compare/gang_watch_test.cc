// One runner's part in the watch, with its messages carried by hand.

#include "runner/watch/compare/gang_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::runner {
namespace {

constexpr Instant kStart{1'800'000'000'000'000'000};

Assignment part_of(int node_rank, int nodes) {
  Assignment assignment;
  assignment.attempt = {JobId("job"), 1};
  assignment.node_rank = node_rank;
  assignment.spec.resources.instance_count = nodes;
  assignment.spec.distribution = {Distribution::Kind::mpi, 1};
  return assignment;
}

GangTable table_of(int nodes) {
  GangTable gang;
  for (int node = 0; node < nodes; ++node) {
    GangMember member;
    member.address = "10.0.0." + std::to_string(node + 1);
    gang.members.push_back(member);
  }
  return gang;
}

// Two runners and what passes between them.
struct Pair : ::testing::Test {
  Pair() {
    for (int node = 0; node < 2; ++node) {
      GangWatch::Callbacks callbacks;
      callbacks.send_up = [this](const GangMessage& message) { to_root.push_back(message); };
      callbacks.broadcast = [this](const GangMessage& message) { from_root.push_back(message); };
      callbacks.take_stacks = [this, node](const std::vector<int>& ranks) {
        for (const int rank : ranks) stacks.emplace_back(node, rank);
      };
      callbacks.keep_stacks = [this] { ++kept; };
      callbacks.ask_counts = [this] { ++counts_asked; };
      callbacks.published = [this] { published.push_back(now); };
      callbacks.hangs = [this](const Found& found) { hangs.push_back(found); };
      watches.push_back(
          std::make_unique<GangWatch>(part_of(node, 2), table_of(2), std::move(callbacks)));
    }
  }

  GangWatch& root() { return *watches[0]; }

  RankStanding standing_of(int rank) const {
    RankStanding standing = ranks[static_cast<std::size_t>(rank)];
    standing.rank = standing.node_rank = rank;
    standing.processes = 1;
    standing.peer_sockets = 1;
    standing.taken = now;
    standing.since = standing.doing_since = still_since;
    standing.window = kWatchEvery;
    standing.stack_at = now;
    return standing;
  }

  void pass(Duration time) {
    for (const Instant end = now + time; now < end; now = now + seconds(1)) {
      const bool is_time = (now - kStart) % Duration(kWatchEvery) == Duration::zero();
      for (int node = 0; node < 2 && is_time; ++node)
        watches[static_cast<std::size_t>(node)]->sampled(now, {standing_of(node)});
      for (auto& watch : watches) watch->expire(now);
      carry();
    }
  }

  void carry() {
    for (const GangMessage& message : std::exchange(to_root, {})) {
      if (const auto* told = std::get_if<GangStandings>(&message)) root().take(now, *told);
      if (const auto* seen = std::get_if<GangSeen>(&message)) root().take(now, *seen);
    }
    for (const GangMessage& message : std::exchange(from_root, {}))
      if (const auto* look = std::get_if<GangLook>(&message)) watches[1]->take(now, *look);
  }

  void all_wait() {
    for (RankStanding& one : ranks) {
      one.doing = Doing::waits_peer;
      one.within = "MPI_Barrier";
      one.by_stack = true;
    }
    still_since = now;
  }

  Instant now = kStart;
  Instant still_since = kStart;
  std::vector<RankStanding> ranks{2};
  std::vector<std::unique_ptr<GangWatch>> watches;
  std::deque<GangMessage> to_root, from_root;
  std::vector<std::pair<int, int>> stacks;
  int kept = 0, counts_asked = 0;
  std::vector<Instant> published;
  std::vector<Found> hangs;
};

TEST_F(Pair, AHangIsSaidOnceAndPublishedBefore) {
  all_wait();
  pass(minutes(5));
  ASSERT_EQ(hangs.size(), 1U);
  EXPECT_EQ(hangs.front().kind, FoundKind::cycle);
  ASSERT_FALSE(root().found().empty());
  EXPECT_EQ(root().found().front().verdict, FoundVerdict::hangs);
  EXPECT_TRUE(watches[1]->found().empty());
  EXPECT_EQ(counts_asked, 0);
}

TEST_F(Pair, WhatIsFoundIsPublishedAtABoundedRate) {
  for (int i = 0; i < 60; ++i) {
    ranks[1].claims = 1 + i % 2;
    pass(seconds(5));
  }
  EXPECT_GE(published.size(), 2U);
  for (std::size_t i = 1; i < published.size(); ++i)
    EXPECT_GE(published[i] - published[i - 1], kPublishEvery);
}

TEST_F(Pair, StacksAreAskedOfTheNodeThatHasTheRank) {
  ranks[0].doing = Doing::waits_peer;
  ranks[0].within = "MPI_Barrier";
  ranks[0].by_stack = true;
  ranks[1].doing = Doing::computes;
  still_since = now;
  pass(seconds(150));
  ASSERT_FALSE(stacks.empty());
  EXPECT_EQ(stacks.front(), (std::pair{1, 1}));
}

TEST_F(Pair, AllNodesKeepTheirStacks) {
  pass(seconds(10));
  root().keep_all_stacks(now);
  carry();
  EXPECT_EQ(kept, 2);
}

TEST_F(Pair, ANodeSpeaksOfItsOwnRanksOnly) {
  pass(seconds(10));
  GangStandings forged;
  forged.now = now;
  forged.standings = {standing_of(0)};
  forged.standings.front().node_rank = 1;
  forged.standings.front().claims = 7;
  forged.standings.push_back(standing_of(1));
  forged.standings.back().rank = 1'000'000;
  root().take(now, forged);
  pass(seconds(10));
  EXPECT_TRUE(root().found().empty());
}

TEST_F(Pair, NodeRankZeroFindsThatItsOwnRankHasLeft) {
  pass(seconds(20));
  watches[0]->node_done(now, 0);
  ranks[0].doing = Doing::exited;
  ranks[1].doing = Doing::waits_peer;
  ranks[1].within = "MPI_Recv";
  ranks[1].by_stack = true;
  still_since = now;
  pass(seconds(30));
  EXPECT_TRUE(root().finds_left());
}

TEST_F(Pair, ANodeIsKnownByTheAddressThatTheProbeChose) {
  const auto is_gone = [this] {
    const FoundList& found = root().found();
    return std::any_of(found.begin(), found.end(),
                       [](const Found& one) { return one.kind == FoundKind::peer_gone; });
  };
  all_wait();
  ranks[0].unacked = 4;
  ranks[0].retransmits = 9;
  ranks[0].unacked_by = "10.9.0.2";
  pass(seconds(60));
  EXPECT_FALSE(is_gone());
  ChosenPath chosen;
  chosen.node_rank = 1;
  chosen.address = "10.9.0.2";
  root().add_addresses({chosen});
  pass(seconds(30));
  EXPECT_TRUE(is_gone());
}

TEST_F(Pair, CountsAreAskedForWhileRanksWaitForTheirGpus) {
  all_wait();
  for (RankStanding& one : ranks) one.within = "ncclAllReduce";
  pass(seconds(120));
  EXPECT_GT(counts_asked, 2);
  EXPECT_LT(counts_asked, 8);
}

}  // namespace
}  // namespace lockstep::runner
