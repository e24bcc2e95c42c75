// What a node tells its parent: little while all goes well, and once what changed.

#include "runner/watch/compare/telling.h"

#include "tests/unit/runner/watch/compare/gang_world.h"

namespace lockstep::runner {
namespace {

constexpr Instant kStart{1'800'000'000'000'000'000};

RankStanding standing_of(int rank, Instant taken, Duration still) {
  RankStanding standing;
  standing.rank = rank;
  standing.node_rank = 1;
  standing.doing = Doing::computes;
  standing.taken = taken;
  standing.since = standing.doing_since = taken - still;
  standing.window = kWatchEvery;
  return standing;
}

const GangStandings* told_in(const std::vector<GangMessage>& messages) {
  return messages.size() == 1 ? std::get_if<GangStandings>(&messages.front()) : nullptr;
}

TEST(Telling, ARankThatMovesIsToldOnce) {
  Telling telling(false);
  telling.sampled(kStart, {standing_of(4, kStart, seconds(0))});
  const auto first = telling.due(kStart);
  ASSERT_NE(told_in(first), nullptr);
  EXPECT_EQ(told_in(first)->now, kStart);
  EXPECT_EQ(told_in(first)->standings.size(), 1U);
  for (int i = 1; i < 10; ++i) {
    const Instant now = kStart + i * kWatchEvery;
    RankStanding standing = standing_of(4, now, seconds(1));
    standing.doing = i % 2 == 0 ? Doing::computes : Doing::reads;
    standing.call = i % 2 == 0 ? "" : "read";
    telling.sampled(now, {standing});
    EXPECT_TRUE(telling.due(now).empty()) << i;
    EXPECT_EQ(telling.next(), Instant::never());
  }
}

TEST(Telling, ARankThatStopsMovingIsToldWithWhatItDoes) {
  Telling telling(false);
  telling.sampled(kStart, {standing_of(4, kStart, seconds(0))});
  telling.due(kStart);
  const Instant now = kStart + kStalledAfter;
  RankStanding standing = standing_of(4, now, kStalledAfter);
  standing.doing = Doing::waits_peer;
  standing.within = "MPI_Barrier";
  standing.by_stack = true;
  telling.sampled(now, {standing});
  const auto messages = telling.due(now);
  ASSERT_NE(told_in(messages), nullptr);
  EXPECT_EQ(told_in(messages)->standings.front().within, "MPI_Barrier");
}

TEST(Telling, MessagesOfChildrenAreGathered) {
  Telling telling(true);
  for (int i = 0; i < 31; ++i) {
    GangStandings below;
    below.now = kStart + seconds(i);  // its clock is ahead
    below.standings.push_back(standing_of(i, below.now, seconds(20)));
    telling.take(kStart, below);
  }
  EXPECT_TRUE(telling.due(kStart).empty());
  EXPECT_EQ(telling.next(), kStart + kGatherFor);
  const Instant now = telling.next();
  const auto messages = telling.due(now);
  ASSERT_NE(told_in(messages), nullptr);
  ASSERT_EQ(told_in(messages)->standings.size(), 31U);
  EXPECT_EQ(told_in(messages)->now, now);
  for (const RankStanding& one : told_in(messages)->standings) {
    EXPECT_EQ(one.taken, kStart) << "on our clock";
    EXPECT_EQ(one.since, kStart - seconds(20));
  }
}

TEST(Telling, AMessageIsBounded) {
  Telling telling(true);
  GangStandings below;
  below.now = kStart;
  for (int i = 0; i < static_cast<int>(kMaxStandingsOfMessage); ++i)
    below.standings.push_back(standing_of(i, kStart, seconds(20)));
  telling.take(kStart, below);
  below.standings = {standing_of(1'000'000, kStart, seconds(20))};
  telling.take(kStart, below);
  const auto messages = telling.due(telling.next());
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(std::get<GangStandings>(messages[0]).standings.size(), kMaxStandingsOfMessage);
  EXPECT_EQ(std::get<GangStandings>(messages[1]).standings.size(), 1U);
}

TEST(Telling, ALookIsAnsweredWithALaterSampleOnly) {
  Telling telling(false);
  telling.sampled(kStart, {standing_of(4, kStart, seconds(0)), standing_of(5, kStart, seconds(0))});
  telling.due(kStart);
  GangLook look;
  look.id = 9;
  look.ranks = {4};
  telling.look(kStart + seconds(1), look);
  EXPECT_TRUE(telling.due(kStart + seconds(1)).empty());
  const Instant now = kStart + kWatchEvery;
  telling.sampled(now, {standing_of(4, now, seconds(5)), standing_of(5, now, seconds(5))});
  const auto messages = telling.due(now);
  ASSERT_EQ(messages.size(), 1U);
  const auto& seen = std::get<GangSeen>(messages.front());
  EXPECT_EQ(seen.id, 9U);
  ASSERT_EQ(seen.standings.size(), 1U);
  EXPECT_EQ(seen.standings.front().rank, 4);
  const Instant later = now + kWatchEvery;
  telling.sampled(later, {standing_of(4, later, seconds(5)), standing_of(5, later, seconds(5))});
  EXPECT_TRUE(telling.due(later).empty()) << "answered once";
}

TEST(Telling, ALookForStacksWaitsForThemForAWhile) {
  Telling telling(false);
  telling.sampled(kStart, {standing_of(4, kStart, seconds(0))});
  telling.due(kStart);
  GangLook look;
  look.id = 9;
  look.ranks = {4, 6};
  look.stacks = true;
  telling.look(kStart, look);
  EXPECT_EQ(telling.wanted_stacks(), std::set<int>{4});
  Instant now = kStart + kWatchEvery;
  telling.sampled(now, {standing_of(4, now, seconds(1))});
  EXPECT_TRUE(telling.due(now).empty());
  now = now + kWatchEvery;
  RankStanding standing = standing_of(4, now, seconds(1));
  standing.by_stack = true;
  standing.stack_at = now - seconds(2);
  telling.sampled(now, {standing});
  ASSERT_EQ(telling.due(now).size(), 1U);
  EXPECT_TRUE(telling.wanted_stacks().empty());
}

TEST(Telling, APauseOfTheMachineIsNoStillness) {
  Telling telling(false);
  telling.sampled(kStart, {standing_of(4, kStart, seconds(0))});
  telling.due(kStart);
  const Instant now = kStart + minutes(30);
  RankStanding standing = standing_of(4, now, minutes(30));
  standing.doing = Doing::locks;
  standing.window = minutes(30);
  telling.sampled(now, {standing});
  EXPECT_TRUE(telling.due(now).empty()) << "it has stood still for 5 s at most";
}

TEST(Telling, ALostNeighbourIsTold) {
  Telling telling(true);
  telling.lost(kStart, 33);
  const auto messages = telling.due(telling.next());
  ASSERT_NE(told_in(messages), nullptr);
  EXPECT_EQ(told_in(messages)->lost, std::vector<int>{33});
}

// Node rank 0 of a thousand nodes has 32 children: while all goes well it gets a message of each a
// minute, and a hang of all ranks is a few more.
TEST(Telling, AThousandNodesTellNodeRankZeroLittle) {
  GangWorld gang(1000);
  gang.each([](SimRank& one) { one.flows = true; });
  gang.run(seconds(30));
  const int before = gang.messages_to_root();
  EXPECT_LE(before, 32 * 8);
  gang.run(minutes(3));
  const int training = gang.messages_to_root() - before;
  EXPECT_LE(training, 32 * 3 * 8) << "paces of a minute, gathered";
  gang.each([](SimRank& one) {
    one.flows = false;
    one.waits("MPI_Barrier");
  });
  gang.rank(700).computes("loop.py:7");
  gang.run(seconds(170));
  const int hanging = gang.messages_to_root() - before - training;
  EXPECT_LE(hanging, 32 * 8 * 5);
  ASSERT_NE(gang.find(FoundKind::waits), nullptr);
  EXPECT_EQ(gang.find(FoundKind::waits)->ranks.front().rank, 700);
  EXPECT_EQ(gang.find(FoundKind::waits)->waiting.size(), 999U);
}

}  // namespace
}  // namespace lockstep::runner
