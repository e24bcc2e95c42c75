// Slow ranks: beyond 1.5 times the median, with what differs.

#include "runner/watch/compare/pace.h"

#include <gmock/gmock.h>

namespace lockstep::runner {
namespace {

constexpr Instant kStart{1'800'000'000'000'000'000};

// Four ranks of one gang, of which a test changes one.
struct Paces : ::testing::Test {
  Paces() {
    for (int rank = 0; rank < 4; ++rank) {
      RankPace pace;
      pace.rank = rank;
      pace.over = kPaceOver;
      pace.samples = pace.moving = 12;
      pace.waiting = 4;
      pace.cpu_milli = 800;
      pace.log_lines = 60;
      pace.hindrances.cpu_mhz = 3000;
      paces.push_back(pace);
      RankStanding standing;
      standing.rank = rank;
      standing.doing = Doing::computes;
      standings.push_back(standing);
    }
  }
  RankPace& slow() { return paces[2]; }
  EvidenceList minute() {
    now = now + kPaceOver;
    for (const RankPace& pace : paces) comparison.take(now, pace);
    GangNow gang;
    for (const RankStanding& standing : standings)
      gang.push_back({&standing, Role::moves, Duration::zero(), false});
    return comparison.slow(gang, now);
  }
  std::string reason() {
    minute();
    const EvidenceList found = minute();
    if (found.size() != 1 || found[0].found.ranks.front().rank != 2) return "not found";
    return found[0].found.fact;
  }

  std::vector<RankPace> paces;
  RankStandings standings;
  PaceComparison comparison{4};
  Instant now = kStart;
};

TEST_F(Paces, EqualRanksAreNotSlow) {
  minute();
  EXPECT_TRUE(minute().empty());
}

TEST_F(Paces, FewerLinesOfOutput) {
  for (RankPace& pace : paces) pace.waiting = 0;
  slow().log_lines = 30;
  EXPECT_TRUE(minute().empty()) << "it may be chance";
  const EvidenceList found = minute();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].found.kind, FoundKind::slow);
  EXPECT_EQ(found[0].found.verdict, FoundVerdict::notice);
  EXPECT_EQ(found[0].found.ranks.front().rank, 2);
  EXPECT_EQ(found[0].found.here, 2000);
  EXPECT_EQ(found[0].found.elsewhere, 1000);
  EXPECT_EQ(found[0].found.fact, "");
  EXPECT_GE(found[0].found.lasting, 2 * Duration(kPaceOver));
}

TEST_F(Paces, WhatExplainsItIsSaidAfterAMinute) {
  slow().log_lines = 30;
  slow().hindrances.throttled_milli = 420;
  const EvidenceList found = minute();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].found.fact, "cpu quota 42 %");
}

TEST_F(Paces, ARankForWhichTheOthersWait) {
  for (RankPace& pace : paces) {
    pace.waiting = 8;
    pace.cpu_milli = 350;
  }
  slow().waiting = 0;
  minute();
  EXPECT_TRUE(minute().empty()) << "it works as much as the others: by chance it was seen at work";
  slow().cpu_milli = 1000;
  EXPECT_EQ(reason(), "");
}

TEST_F(Paces, EachReason) {
  slow().log_lines = 20;
  const RankPace plain = slow();
  slow().hindrances.queued_milli = 350;
  EXPECT_EQ(reason(), "other load 35 %");
  slow() = plain;
  slow().hindrances.disk_wait_milli = 500;
  EXPECT_EQ(reason(), "disk wait 50 %");
  slow() = plain;
  slow().hindrances.major_faults = 4000;
  EXPECT_EQ(reason(), "page faults 4000");
  slow() = plain;
  slow().hindrances.cpu_mhz = 1200;
  EXPECT_EQ(reason(), "cpu clock 1200 MHz");
  slow() = plain;
  slow().hindrances.gpu_held = "thermal";
  EXPECT_EQ(reason(), "gpu clock: thermal");
  slow() = plain;
  slow().retransmits = 90;
  EXPECT_EQ(reason(), "retransmits 90");
}

TEST_F(Paces, OnlyOneRankLogs) {
  for (RankPace& pace : paces) pace.log_lines = 0;
  paces[0].log_lines = 600;
  minute();
  EXPECT_TRUE(minute().empty());
}

TEST_F(Paces, OfTwoRanksTheFirstLogs) {
  for (const int lines : {0, 3, 30}) {
    paces.resize(2);
    standings.resize(2);
    paces[0].log_lines = 60;
    paces[1].log_lines = lines;
    for (RankStanding& standing : standings) standing.peer_sockets = 1;
    minute();
    EXPECT_TRUE(minute().empty()) << lines << " lines: both wait as long for the other";
  }
}

TEST_F(Paces, RanksThatDoNotMoveAreNotCompared) {
  for (RankPace& pace : paces) {
    pace.waiting = 12;
    pace.moving = 0;
  }
  slow().waiting = 0;
  minute();
  EXPECT_TRUE(minute().empty());
}

TEST_F(Paces, ItIsOverWhenItKeepsUp) {
  for (RankPace& pace : paces) pace.waiting = 0;
  slow().log_lines = 20;
  EXPECT_EQ(reason(), "");
  slow().log_lines = 60;
  EXPECT_TRUE(minute().empty());
}

TEST_F(Paces, AServerIsNotSlow) {
  slow().cpu_milli = 0;
  slow().waiting = 0;
  slow().log_lines = 0;
  standings[2].doing = Doing::serves;
  now = now + kPaceOver;
  for (const RankPace& pace : paces) comparison.take(now, pace);
  GangNow gang;
  for (const RankStanding& standing : standings)
    gang.push_back({&standing, standing.rank == 2 ? Role::acts : Role::moves, {}, false});
  EXPECT_TRUE(comparison.slow(gang, now).empty());
}

RankStanding sample(Instant taken, Duration window) {
  RankStanding standing;
  standing.rank = 7;
  standing.node_rank = 3;
  standing.taken = standing.since = taken;
  standing.window = window;
  standing.doing = Doing::computes;
  standing.cpu_milli = 500;
  standing.hindrances.queued_milli = 100;
  standing.hindrances.major_faults = 2;
  return standing;
}

TEST(PaceMeter, AddsUpAMinute) {
  PaceMeter meter;
  Instant now = kStart;
  for (int i = 0; i <= 12; ++i) {
    RankStanding standing = sample(now, kWatchEvery);
    standing.log_lines = 10 * i;
    if (i % 6 == 0) standing.doing = Doing::waits_peer;
    if (i % 6 == 3) standing.pauses = true;
    meter.add({standing});
    if (i < 12) {
      EXPECT_TRUE(meter.take().empty());
    }
    now = now + kWatchEvery;
  }
  const auto paces = meter.take();
  ASSERT_EQ(paces.size(), 1U);
  EXPECT_EQ(paces[0].rank, 7);
  EXPECT_EQ(paces[0].node_rank, 3);
  EXPECT_EQ(paces[0].over, Duration(kPaceOver));
  EXPECT_EQ(paces[0].samples, 12);
  EXPECT_EQ(paces[0].moving, 12);
  EXPECT_EQ(paces[0].waiting, 4);
  EXPECT_EQ(paces[0].cpu_milli, 500);
  EXPECT_EQ(paces[0].log_lines, 120);
  EXPECT_EQ(paces[0].hindrances.queued_milli, 100);
  EXPECT_EQ(paces[0].hindrances.major_faults, 24);
  EXPECT_TRUE(meter.take().empty());
}

TEST(PaceMeter, AMinuteWithAPauseIsDropped) {
  PaceMeter meter;
  Instant now = kStart;
  for (int i = 0; i < 10; ++i) {
    meter.add({sample(now, kWatchEvery)});
    now = now + kWatchEvery;
  }
  now = now + minutes(10);
  meter.add({sample(now, minutes(10))});
  EXPECT_TRUE(meter.take().empty());
}

}  // namespace
}  // namespace lockstep::runner
