#include "common/transfer/fetch_plan.h"

#include <gtest/gtest.h>

namespace lockstep::transfer {
namespace {

constexpr Instant kStart{1'000'000'000'000};
const NodeId a{1}, b{2}, c{3};

BlobPeer peer(NodeId id, bool fetching, bool core = false) {
  return {id,          "n" + std::to_string(id.value),
          "tcp://n:1", PublicKey(std::string(40, 'k')),
          fetching,    core};
}

UnitsReply units(const std::vector<bool>& have, std::uint64_t done = 0, bool fetching = true) {
  UnitsReply reply{false, fetching, done, std::string((have.size() + 7) / 8, '\0')};
  for (std::size_t i = 0; i < have.size(); ++i)
    if (have[i]) reply.have[i / 8] = static_cast<char>(reply.have[i / 8] | 1 << i % 8);
  return reply;
}

const UnitsReply kWhole{true, false, 0, ""};

struct Plan : ::testing::Test {
  FetchPlan make(std::size_t count) { return FetchPlan(std::vector<bool>(count, false), kStart); }
  // All that is asked for comes at once, until nothing more is.
  static std::map<NodeId, int> fetch_all(FetchPlan& plan, Instant now) {
    std::map<NodeId, int> from;
    for (auto asks = plan.next(now); !asks.empty(); asks = plan.next(now)) {
      for (const auto& ask : asks) {
        plan.arrived(ask.from, 100, now);
        plan.finished(ask.unit, now);
        ++from[ask.from];
      }
    }
    return from;
  }
};

TEST_F(Plan, WithoutPeersAllComesFromTheLauncherAFewAtATime) {
  FetchPlan plan = make(10);
  EXPECT_EQ(plan.next(kStart).size(), FetchLimits{}.open_at_launcher);
  EXPECT_TRUE(plan.next(kStart).empty());
  FetchPlan other = make(10);
  EXPECT_EQ(fetch_all(other, kStart)[kLauncher], 10);
  EXPECT_TRUE(other.done());
}

TEST_F(Plan, WhatIsHereIsNotAskedFor) {
  FetchPlan plan({true, false, true}, kStart);
  const auto asks = plan.next(kStart);
  ASSERT_EQ(asks.size(), 1u);
  EXPECT_EQ(asks[0].unit, 1u);
}

TEST_F(Plan, APeerThatHasItAllGivesItAll) {
  FetchPlan plan = make(20);
  plan.told({c, false, {peer(a, false), peer(b, false)}}, kStart);
  EXPECT_TRUE(plan.next(kStart).empty()) << "asked the launcher before a peer could answer";
  EXPECT_EQ(plan.questions(kStart).size(), 2u);
  EXPECT_TRUE(plan.questions(kStart).empty());
  plan.heard(a, kWhole, kStart);
  plan.heard(b, kWhole, kStart);
  const auto from = fetch_all(plan, kStart);
  EXPECT_EQ(from.count(kLauncher), 0u);
  EXPECT_GT(from.at(a), 5);
  EXPECT_GT(from.at(b), 5);
  EXPECT_EQ(plan.senders(), 2);
}

TEST_F(Plan, TheCoreSharesTheLaunchersWorkWithoutAWord) {
  std::vector<int> asked(300, 0);
  for (const NodeId self : {a, b, c}) {
    FetchPlan plan = make(asked.size());
    FindPeersReply reply{self, true, {}};
    for (const NodeId id : {a, b, c})
      if (id != self) reply.peers.push_back(peer(id, true, true));
    plan.told(reply, kStart);
    for (auto asks = plan.next(kStart); !asks.empty(); asks = plan.next(kStart)) {
      for (const auto& ask : asks) {
        EXPECT_EQ(ask.from, kLauncher);
        ++asked[ask.unit];
        plan.finished(ask.unit, kStart);
      }
    }
    EXPECT_FALSE(plan.done());
  }
  EXPECT_EQ(std::count(asked.begin(), asked.end(), 1), 300);
}

// A node that fetched alone once took most of it from the launcher, though another had it all.
TEST_F(Plan, WhatAPeerHasIsNotTheLaunchersThoughThePeerIsAtItsLimit) {
  FetchPlan plan = make(20);
  plan.told({c, true, {peer(a, false)}}, kStart);
  EXPECT_TRUE(plan.next(kStart).empty()) << "it could not answer yet";
  plan.questions(kStart);
  plan.heard(a, kWhole, kStart);
  EXPECT_EQ(fetch_all(plan, kStart), (std::map<NodeId, int>{{a, 20}}));
}

TEST_F(Plan, WhoCameLaterAsksTheLauncherForNothingWhileEarlierOnesGetOn) {
  FetchPlan plan = make(8);
  plan.told({c, false, {peer(a, true, true)}}, kStart);
  Instant now = kStart;
  std::vector<bool> have(8, false);
  for (int i = 0; i < 8; ++i) {
    now = now + milliseconds(1'900);
    plan.questions(now);
    have[static_cast<std::size_t>(i)] = true;
    plan.heard(a, units(have, static_cast<std::uint64_t>(i) + 1), now);
    EXPECT_EQ(fetch_all(plan, now), (std::map<NodeId, int>{{a, 1}}));
  }
  EXPECT_TRUE(plan.done());
}

TEST_F(Plan, WhenNobodyGetsOnTheLauncherBringsItOneMoreAtATime) {
  FetchPlan plan = make(8);
  plan.told({c, false, {peer(a, true, true)}}, kStart);
  Instant now = kStart;
  for (std::size_t expected = 1; expected <= 4; ++expected) {
    plan.questions(now);
    plan.heard(a, units(std::vector<bool>(8, false)), now);
    EXPECT_TRUE(plan.next(now).empty());
    now = now + FetchLimits{}.timeout;
    plan.heard(a, units(std::vector<bool>(8, false)), now);
    EXPECT_EQ(plan.next(now).size(), 1u) << expected;
  }
}

TEST_F(Plan, WhoOwesAnAnswerForTooLongIsSilentAndItsUnitsGoElsewhere) {
  FetchPlan plan = make(2);
  plan.told({c, false, {peer(a, false)}}, kStart);
  plan.questions(kStart);
  plan.heard(a, kWhole, kStart);
  EXPECT_EQ(plan.next(kStart).size(), 2u);
  const Instant late = kStart + FetchLimits{}.timeout;
  EXPECT_TRUE(plan.silent(late - milliseconds(1)).empty());
  EXPECT_EQ(plan.silent(late), std::vector{a});
  plan.woke(late);
  EXPECT_TRUE(plan.silent(late).empty()) << "this node itself stood still";
  plan.drop(a, "silent", false);
  EXPECT_EQ(fetch_all(plan, late), (std::map<NodeId, int>{{kLauncher, 2}}));
  plan.told({c, false, {peer(a, false)}}, late);
  EXPECT_EQ(plan.peers().at(a).fault, "silent") << "it came back";
}

TEST_F(Plan, ABusyPeerIsLeftAloneForAMomentAndNotForgotten) {
  FetchPlan plan = make(1);
  plan.told({c, false, {peer(a, false)}}, kStart);
  plan.questions(kStart);
  plan.heard(a, kWhole, kStart);
  ASSERT_EQ(plan.next(kStart).size(), 1u);
  plan.busy(a, 0, kStart);
  EXPECT_TRUE(plan.next(kStart).empty()) << "the launcher is asked though a peer has it";
  EXPECT_TRUE(plan.silent(kStart + seconds(60)).empty());
  EXPECT_EQ(plan.next(kStart + milliseconds(200)), (std::vector<FetchPlan::Ask>{{a, 0}}));
}

TEST_F(Plan, WhoHasNotWhatItSaidIsDroppedTheThirdTime) {
  FetchPlan plan = make(50);
  plan.told({c, false, {peer(a, false)}}, kStart);
  plan.questions(kStart);
  plan.heard(a, kWhole, kStart);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(plan.peers().at(a).fault.empty());
    const auto asks = plan.next(kStart);
    ASSERT_FALSE(asks.empty());
    for (const auto& ask : asks)
      if (ask.from == a) {
        plan.lacking(a, ask.unit, kStart);
        break;
      }
  }
  EXPECT_FALSE(plan.peers().at(a).fault.empty());
  EXPECT_FALSE(plan.peers().at(a).gave_wrong_data);
}

TEST_F(Plan, BitsBeyondTheTreeAndTooFewOfThemAreHarmless) {
  FetchPlan plan = make(9);
  plan.told({c, false, {peer(a, true), peer(b, true)}}, kStart);
  plan.questions(kStart);
  plan.heard(a, {false, true, 0, std::string(100, '\xff')}, kStart);
  plan.heard(b, {false, true, 0, ""}, kStart);
  EXPECT_EQ(fetch_all(plan, kStart)[a], 9);
}

}  // namespace
}  // namespace lockstep::transfer
