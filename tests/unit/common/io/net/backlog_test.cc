#include "common/io/net/backlog.h"

#include <gtest/gtest.h>

namespace lockstep::io {
namespace {

constexpr Backlog::Limits kSmall{.unread = 100, .unsent = 50, .all = 200, .share = 10};

TEST(Backlog, AConnectionMayHaveSoMuchUnreadAndNoMore) {
  Backlog backlog(kSmall);
  backlog.opened(3);
  EXPECT_TRUE(backlog.read(3, 100));
  backlog.took(3, 40);
  EXPECT_TRUE(backlog.read(3, 40));
  EXPECT_FALSE(backlog.read(3, 1));
}

TEST(Backlog, WhatIsNoAcceptedConnectionHasNoBound) {
  Backlog backlog(kSmall);
  EXPECT_TRUE(backlog.read(5, 1'000'000));
  EXPECT_TRUE(backlog.read(-1, 1'000'000));
  EXPECT_TRUE(backlog.may_give(5, 1'000'000));
  EXPECT_EQ(backlog.unread(), 0);
}

TEST(Backlog, ATrustedPeerHasNoBoundUntilTheDescriptorIsAnothers) {
  Backlog backlog(kSmall);
  backlog.opened(3);
  EXPECT_TRUE(backlog.read(3, 60));
  backlog.trust(3);
  EXPECT_EQ(backlog.unread(), 0);
  EXPECT_TRUE(backlog.read(3, 1'000));
  EXPECT_TRUE(backlog.may_give(3, 1'000));
  backlog.opened(3);
  EXPECT_FALSE(backlog.read(3, 101));
}

TEST(Backlog, AllTogetherHaveABoundAndThenEachItsShare) {
  Backlog backlog(kSmall);
  for (int fd = 1; fd <= 4; ++fd) backlog.opened(fd);
  EXPECT_TRUE(backlog.read(1, 90));
  EXPECT_TRUE(backlog.read(2, 90));
  EXPECT_TRUE(backlog.read(3, 30)) << "less than a quarter of all";
  EXPECT_FALSE(backlog.read(1, 1));
  backlog.closed(1);
  EXPECT_EQ(backlog.unread(), 211) << "what it sent still waits";
  backlog.took(1, 91);
  EXPECT_EQ(backlog.unread(), 120);
}

TEST(Backlog, WhatClosedConnectionsLeftIsGoneWhenNothingWaits) {
  Backlog backlog(kSmall);
  backlog.opened(1);
  backlog.read(1, 90);
  backlog.closed(1);
  EXPECT_EQ(backlog.unread(), 90);
  backlog.all_taken();
  EXPECT_EQ(backlog.unread(), 0);
}

TEST(Backlog, WhatIsNotReadByItsPeerFillsAQueue) {
  Backlog backlog(kSmall);
  backlog.opened(1);
  EXPECT_TRUE(backlog.may_give(1, 80)) << "one message may always go";
  backlog.gave(1, 80);
  EXPECT_FALSE(backlog.may_give(1, 1));
  backlog.wrote(1, 40);
  EXPECT_TRUE(backlog.may_give(1, 10));
  EXPECT_FALSE(backlog.may_give(1, 11));
  backlog.wrote(1, 1'000);
  EXPECT_EQ(backlog.unsent(), 0) << "a handshake is nobody's message";
}

TEST(Backlog, AnotherLifeOfADescriptorIsAnotherNumber) {
  Backlog backlog(kSmall);
  EXPECT_EQ(backlog.life(1), 0U);
  backlog.opened(1);
  const auto first = backlog.life(1);
  EXPECT_NE(first, 0U);
  backlog.closed(1);
  EXPECT_EQ(backlog.life(1), 0U);
  backlog.opened(1);
  EXPECT_NE(backlog.life(1), first);
}

}  // namespace
}  // namespace lockstep::io
