// The order of inputs and turns: what waits for a write is handled as one.

#include "launcher/core/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "launcher/state/jobs/table.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;

// A core each of whose steps has a fact.
struct Handled {
  Turns turns{{[] { return Instant{1}; },
               [this](Instant, const Input& input, bool more) {
                 (std::holds_alternative<TickInput>(input) ? ticks : inputs).push_back(more);
                 Step step;
                 step.facts.push_back(JobAtHead{JobId("j")});
                 return step;
               },
               [](Instant, const HeartbeatInput&) { return Heard{}; },
               [] { return Instant::never(); },
               [this](const std::vector<StampedFact>& facts) { ahead += facts.size(); }}};
  std::size_t ahead = 0;
  std::vector<bool> inputs, ticks;  // `more` of each

  void feed() { turns.feed(KeysFileInput{}); }
  void write() {
    turns.written();
    turns.end();
    turns.performed();
  }
};

TEST(Turns, OnlyTheLastOfThoseThatWaitedIsHandledAsTheLast) {
  Handled f;
  f.feed();
  EXPECT_THAT(f.inputs, ElementsAre(false)) << "nothing follows";
  EXPECT_EQ(f.turns.end().facts.size(), 1U);
  for (int i = 0; i < 3; ++i) f.feed();
  EXPECT_EQ(f.inputs.size(), 1U) << "a write goes on";
  f.write();
  EXPECT_THAT(f.inputs, ElementsAre(false, true, true, false));
  EXPECT_TRUE(f.ticks.empty());
  EXPECT_EQ(f.turns.end().facts.size(), 3U) << "one turn";
}

TEST(Turns, WhatWasPutOffIsMadeUpForWhenARequestIsLast) {
  Handled f;
  f.feed();
  f.turns.end();
  f.feed();
  bool asked = false;
  f.turns.ask([&] { asked = true; });
  f.write();
  EXPECT_TRUE(asked);
  EXPECT_THAT(f.inputs, ElementsAre(false, true));
  EXPECT_THAT(f.ticks, ElementsAre(false)) << "a step that places what waits";
}

TEST(Turns, FactsOfALongTurnGoAheadAndAreWrittenWithItsEnd) {
  Handled f;
  f.feed();
  f.turns.end();
  for (std::size_t i = 0; i < kFactsAhead; ++i) f.feed();
  EXPECT_EQ(f.ahead, 0U) << "a short one has none";
  f.write();
  EXPECT_EQ(f.ahead, kFactsAhead);
  EXPECT_FALSE(f.turns.idle());
  bool durable = false;
  f.turns.when_durable([&] { durable = true; });
  const Turns::Turn turn = f.turns.end();
  EXPECT_TRUE(turn.writes) << "what went ahead is not durable yet";
  EXPECT_TRUE(turn.facts.empty());
  EXPECT_FALSE(durable);
  f.write();
  EXPECT_TRUE(durable);
  EXPECT_TRUE(f.turns.idle());
}

TEST(JobTable, FindsByNameAlsoInACopyAndAfterRemoval) {
  JobTable<int> table;
  for (int i = 0; i < 1'000; ++i) table.add(JobId("job_" + std::to_string(i)), i);
  table.remove(JobId("job_7"));
  JobTable<int> copy = table;
  EXPECT_EQ(copy, table);
  *copy.find(JobId("job_8")) = -8;
  EXPECT_EQ(*table.find(JobId("job_8")), 8) << "a copy is another one";
  EXPECT_EQ(table.find(JobId("job_7")), nullptr);
  const JobTable<int> moved = std::move(copy);
  EXPECT_EQ(*moved.find(JobId("job_8")), -8);
  EXPECT_EQ(*moved.find(JobId("job_999")), 999);
  EXPECT_EQ(moved.all().size(), 999U);
}

}  // namespace
}  // namespace lockstep::launcher
