// What a standing says of a rank: whether it may go on by itself.

#include "runner/watch/compare/role.h"

#include <gtest/gtest.h>

namespace lockstep::runner {
namespace {

constexpr Instant kNow{1'800'000'000'000'000'000};

RankStanding still(Doing doing) {
  RankStanding standing;
  standing.doing = doing;
  standing.taken = kNow;
  standing.since = standing.doing_since = kNow - minutes(5);
  standing.processes = 1;
  return standing;
}

TEST(Role, WhoeverMovesIsNotStuck) {
  RankStanding standing = still(Doing::waits_peer);
  standing.since = kNow - seconds(3);
  EXPECT_EQ(role_of(standing), Role::moves);
}

TEST(Role, ComputingReadingSleepingStartingAndServingMayGoOn) {
  for (const Doing doing :
       {Doing::computes, Doing::reads, Doing::sleeps, Doing::starts, Doing::serves})
    EXPECT_EQ(role_of(still(doing)), Role::acts) << to_string(doing);
}

TEST(Role, ARankThatAToolHoldsMayGoOn) {
  for (const Doing doing : {Doing::waits_peer, Doing::stopped, Doing::locks}) {
    RankStanding standing = still(doing);
    standing.traced = true;
    EXPECT_EQ(role_of(standing), Role::acts) << to_string(doing);
  }
}

TEST(Role, ALockWithATimeOutOrWithOtherProcessesIsNone) {
  EXPECT_EQ(role_of(still(Doing::locks)), Role::locked);
  RankStanding timed = still(Doing::locks);
  timed.has_timeout = true;
  EXPECT_EQ(role_of(timed), Role::acts);
  RankStanding with_workers = still(Doing::locks);
  with_workers.processes = 4;
  EXPECT_EQ(role_of(with_workers), Role::acts);
  with_workers.shells = 3;
  EXPECT_EQ(role_of(with_workers), Role::locked) << "what started it has no lock of its";
}

TEST(Role, WhoIsBlockedOnNobodyKnowsWhatMayGoOn) {
  RankStanding selects = still(Doing::waits_peer);
  selects.call = "select";
  EXPECT_EQ(role_of(selects), Role::acts);
  selects.on = "10.0.0.4:5000";
  EXPECT_EQ(role_of(selects), Role::waits);
}

TEST(Role, APollWithATimeOutIsATimerUnlessALibraryWaitsInIt) {
  RankStanding polls = still(Doing::waits_peer);
  polls.has_timeout = true;
  EXPECT_EQ(role_of(polls), Role::acts);
  polls.by_stack = true;
  polls.within = "gloo::allreduce";
  EXPECT_EQ(role_of(polls), Role::waits);
}

TEST(Role, ASecondThreadThatRunsMayGoOn) {
  RankStanding standing = still(Doing::waits_peer);
  standing.by_stack = true;
  standing.within = "MPI_Barrier";
  standing.threads_running = 1;
  EXPECT_EQ(role_of(standing), Role::waits);
  standing.threads_running = 2;
  EXPECT_EQ(role_of(standing), Role::acts);
}

TEST(Role, WhatWaitsForAGpuMayWaitForItsOwn) {
  RankStanding standing = still(Doing::waits_peer);
  standing.by_stack = true;
  standing.within = "cudaStreamSynchronize";
  EXPECT_EQ(role_of(standing), Role::on_gpu);
  standing.within = "ncclAllReduce";
  EXPECT_EQ(role_of(standing), Role::waits_gpu);
  standing.within = "barrier";
  standing.versions.nccl = "2.27.3";
  EXPECT_EQ(role_of(standing), Role::waits_gpu);
  standing.within = "MPI_Barrier";
  EXPECT_EQ(role_of(standing), Role::waits);
}

TEST(Role, ItHasWaitedSinceItBeganToWait) {
  RankStanding standing = still(Doing::waits_peer);
  standing.doing_since = kNow - seconds(20);
  EXPECT_EQ(still_for(standing, role_of(standing), kNow + seconds(5)), seconds(25));
  standing.by_stack = true;  // which was taken late
  EXPECT_EQ(still_for(standing, role_of(standing), kNow), minutes(5));
}

TEST(Role, WhatSpinsIsSeenToMoveOverTcpOnly) {
  RankStanding standing = still(Doing::waits_peer);
  EXPECT_TRUE(is_surely_still(standing)) << "it sleeps";
  standing.threads_running = 1;
  standing.cpu_milli = 1000;
  EXPECT_FALSE(is_surely_still(standing));
  standing.peer_sockets = 3;
  EXPECT_TRUE(is_surely_still(standing));
}

}  // namespace
}  // namespace lockstep::runner
