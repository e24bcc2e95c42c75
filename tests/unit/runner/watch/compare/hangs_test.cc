// Eight hangs, each of which must be named right; and that only evidence is an alarm.

#include "tests/unit/runner/watch/compare/gang_world.h"

namespace lockstep::runner {
namespace {

constexpr int kNodes = 4;

// Ranks 0 to 2 wait in a barrier for rank 3.
void all_but_the_last_wait(GangWorld& gang) {
  for (int rank = 0; rank < gang.ranks() - 1; ++rank) gang.rank(rank).waits("MPI_Barrier");
}

::testing::AssertionResult names(const Found* found, int rank, const std::vector<int>& waiting) {
  if (found == nullptr) return ::testing::AssertionFailure() << "nothing was found";
  if (found->ranks.empty() || found->ranks.front().rank != rank || found->waiting != waiting)
    return ::testing::AssertionFailure() << shown(*found);
  return ::testing::AssertionSuccess();
}

TEST(Hangs, AnEndlessLoopIsNamedAndNoAlarm) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).computes("loop.py:7");
  gang.run(minutes(30));
  const Found* const found = gang.find(FoundKind::waits);
  ASSERT_TRUE(names(found, 3, {0, 1, 2}));
  EXPECT_EQ(found->verdict, FoundVerdict::waits);
  EXPECT_EQ(found->ranks.front().doing, "computes");
  EXPECT_EQ(found->ranks.front().at, "loop.py:7");
  EXPECT_EQ(found->ranks.front().node_rank, 3);
  EXPECT_GE(found->lasting, seconds(120));
  EXPECT_LE(found->lasting, seconds(150));
  EXPECT_FALSE(gang.was_alarm());
}

TEST(Hangs, AReadIsNamedWithItsFile) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).reads("/data/shard-7.tar");
  gang.run(minutes(5));
  const Found* const found = gang.find(FoundKind::waits);
  ASSERT_TRUE(names(found, 3, {0, 1, 2}));
  EXPECT_EQ(found->ranks.front().doing, "reads");
  EXPECT_EQ(found->ranks.front().call, "read");
  EXPECT_EQ(found->ranks.front().on, "/data/shard-7.tar");
  EXPECT_FALSE(gang.was_alarm());
}

TEST(Hangs, AStoppedRankIsToldSoonAndIsAnAlarmLater) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).stops();
  gang.run(seconds(45));
  ASSERT_TRUE(names(gang.find(FoundKind::stopped), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::stopped)->verdict, FoundVerdict::notice);
  gang.run(seconds(140));
  ASSERT_TRUE(names(gang.find(FoundKind::stopped), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::stopped)->verdict, FoundVerdict::hangs);
  EXPECT_EQ(gang.found().size(), 1U) << "said once";
}

TEST(Hangs, AnAlarmIsOverWhenTheRankGoesOn) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).stops();
  gang.run(minutes(4));
  ASSERT_TRUE(gang.was_alarm());
  gang.each([](SimRank& one) {
    one.computes();
    one.moved = true;
  });
  gang.run(seconds(15));
  EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
}

TEST(Hangs, ARankThatNeverCallsInitIsNamed) {
  GangWorld gang(kNodes);
  gang.each([](SimRank& one) { one.now.has_met = true; });
  gang.rank(3).now.has_met = false;
  all_but_the_last_wait(gang);
  gang.rank(3).now.doing = Doing::reads;
  gang.rank(3).now.call = "connect";
  gang.rank(3).now.on = "10.0.0.4:29500";
  gang.run(seconds(60));
  const Found* const found = gang.find(FoundKind::not_started);
  ASSERT_TRUE(names(found, 3, {0, 1, 2}));
  EXPECT_EQ(found->ranks.front().call, "connect");
  EXPECT_EQ(found->ranks.front().on, "10.0.0.4:29500");
  EXPECT_EQ(found->fact, "MPI_Init");
  gang.run(minutes(5));
  EXPECT_EQ(gang.found().size(), 1U) << "that others wait for it is no second finding";
  EXPECT_FALSE(gang.was_alarm());
}

TEST(Hangs, ARankThatSkipsABarrierAndWaitsInAnotherCallIsACircle) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).waits("MPI_Allreduce", "step.c:12");
  const Instant began = gang.now();
  gang.run(minutes(4));
  const Found* const found = gang.find(FoundKind::cycle);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->verdict, FoundVerdict::hangs);
  EXPECT_EQ(found->ranks.front().rank, 3) << "it differs: " << shown(*found);
  EXPECT_EQ(found->ranks.front().at, "step.c:12");
  EXPECT_EQ(found->fact, "MPI_Allreduce and MPI_Barrier");
  EXPECT_EQ(found->ranks.size(), 4U);
  EXPECT_GE(*gang.alarm_at() - began, seconds(120));
  EXPECT_LE(*gang.alarm_at() - began, seconds(175));
  EXPECT_GE(gang.looks(), 2);
}

TEST(Hangs, ARankThatSkipsTheLastBarrierLeftEarly) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).exits();
  gang.run(seconds(30));
  ASSERT_TRUE(names(gang.find(FoundKind::left_early), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::left_early)->verdict, FoundVerdict::notice);
  gang.run(minutes(3));
  ASSERT_TRUE(names(gang.find(FoundKind::left_early), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::left_early)->verdict, FoundVerdict::hangs);
}

TEST(Hangs, RanksThatSpinAreAskedForTheirStacksWhenOneHasLeft) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  for (int rank = 0; rank < 3; ++rank) gang.rank(rank).needs_stack = true;
  gang.rank(3).exits();
  gang.run(seconds(60));
  ASSERT_TRUE(names(gang.find(FoundKind::left_early), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::left_early)->verdict, FoundVerdict::notice);
}

TEST(Hangs, AFenceThatAFinishedRankCannotEnterNeedsNoStacks) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  for (int rank = 0; rank < 3; ++rank) {
    gang.rank(rank).computes();  // it spins, and no tool is there that could tell where
    gang.rank(rank).now.fences = 2;
    gang.rank(rank).now.in_fence = true;
  }
  gang.rank(3).now.fences = 1;
  gang.rank(3).now.finalized = true;
  gang.run(minutes(5));
  const Found* const found = gang.find(FoundKind::missed_fence);
  ASSERT_TRUE(names(found, 3, {0, 1, 2}));
  EXPECT_EQ(found->verdict, FoundVerdict::hangs);
}

TEST(Hangs, APythonDeadlockIsAnAlarmWhenOthersWait) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.rank(3).locks();
  gang.rank(3).now.at = "cache.py:30";
  gang.run(minutes(4));
  const Found* const found = gang.find(FoundKind::cycle);
  ASSERT_TRUE(names(found, 3, {0, 1, 2}));
  EXPECT_EQ(found->verdict, FoundVerdict::hangs);
  EXPECT_EQ(found->fact, "lock");
  EXPECT_EQ(found->about, FoundAbout::lock);
  EXPECT_EQ(found->ranks.front().at, "cache.py:30");
}

TEST(Hangs, ALoneDeadlockIsSaidAndNoAlarm) {
  GangWorld gang(1);
  gang.run(seconds(30));
  gang.rank(0).locks();
  gang.run(minutes(4));
  const Found* const found = gang.find(FoundKind::cycle);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->verdict, FoundVerdict::notice);
  EXPECT_FALSE(gang.was_alarm());
}

// Over NCCL all ranks wait for their GPUs; the counts tell.
TEST(Hangs, ADdpRankThatSkipsAnAllReduceHasOtherCounts) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) {
    one.waits("ncclAllReduce", "train.py:88");
    one.now.collectives = {{"c0ffee", "AllReduce", 512}, {"c0ffee", "Broadcast", 2}};
  });
  gang.rank(3).now.collectives[0].count = 511;
  gang.run(minutes(5));
  const Found* const found = gang.find(FoundKind::unequal_counts);
  ASSERT_TRUE(names(found, 3, {0, 1, 2}));
  EXPECT_EQ(found->verdict, FoundVerdict::hangs);
  EXPECT_EQ(found->fact, "AllReduce");
  EXPECT_EQ(found->here, 511);
  EXPECT_EQ(found->elsewhere, 512);
}

TEST(Hangs, ADdpRankThatSkipsAnAllReduceOverGlooIsACircle) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) {
    one.waits("gloo::allreduce", "train.py:88");
    one.now.has_timeout = true;
  });
  gang.rank(3).waits("gloo::barrier", "train.py:95");
  gang.run(minutes(4));
  ASSERT_NE(gang.find(FoundKind::cycle), nullptr);
  EXPECT_EQ(gang.find(FoundKind::cycle)->verdict, FoundVerdict::hangs);
  EXPECT_EQ(gang.find(FoundKind::cycle)->ranks.front().rank, 3);
}

TEST(Hangs, ALostNodeUnderTcpIsAnUnreachablePeer) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  for (int rank = 0; rank < 3; ++rank) {
    gang.rank(rank).waits_on(gang.address_of(3) + ":40000", gang.address_of(rank) + ":50000");
    gang.rank(rank).now.unacked = 4;
    gang.rank(rank).now.retransmits = 9;
    gang.rank(rank).now.unacked_by = gang.address_of(3);
  }
  gang.lose_node(3);
  gang.run(seconds(60));
  ASSERT_TRUE(names(gang.find(FoundKind::peer_gone), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::peer_gone)->verdict, FoundVerdict::notice);
  gang.run(minutes(3));
  ASSERT_TRUE(names(gang.find(FoundKind::peer_gone), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::peer_gone)->verdict, FoundVerdict::hangs);
}

// Only its runner is not heard; it said before that its ranks compute.
TEST(Hangs, ANodeThatIsNotHeardIsGoneForThoseWhoWaitForIt) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  all_but_the_last_wait(gang);
  gang.lose_node(3);
  gang.run(minutes(4));
  ASSERT_TRUE(names(gang.find(FoundKind::peer_gone), 3, {0, 1, 2}));
  EXPECT_EQ(gang.find(FoundKind::peer_gone)->verdict, FoundVerdict::hangs);
}

TEST(Hangs, TwoRanksBlockedOnEachOtherAreACircleWhateverTheOthersDo) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(1).waits_on("10.0.0.3:40000", "10.0.0.2:50000");
  gang.rank(2).waits_on("10.0.0.2:50000", "10.0.0.3:40000");
  gang.rank(0).flows = gang.rank(3).flows = true;
  gang.run(minutes(4));
  const Found* const found = gang.find(FoundKind::cycle);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->verdict, FoundVerdict::hangs);
  EXPECT_EQ(found->ranks.size(), 2U);
}

TEST(Hangs, ThreeRanksBlockedInARingAreACircleByTheirAddresses) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  for (int rank = 0; rank < 3; ++rank)
    gang.rank(rank).waits_on(gang.address_of((rank + 1) % 3) + ":4444",
                             gang.address_of(rank) + ":" + std::to_string(5000 + rank));
  gang.rank(3).flows = true;
  gang.run(minutes(4));
  ASSERT_NE(gang.find(FoundKind::cycle), nullptr);
  EXPECT_EQ(gang.find(FoundKind::cycle)->ranks.size(), 3U);
}

// What has left names nobody: the walk along who waits for whom ends there.
TEST(Hangs, ARankThatWaitsForOneThatIsNoLongerThereIsInNoCircle) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(1).waits_on("10.0.0.3:40000", "10.0.0.2:50000");
  gang.rank(2).exits();
  gang.rank(0).flows = gang.rank(3).flows = true;
  gang.run(minutes(4));
  EXPECT_EQ(gang.find(FoundKind::cycle), nullptr);
  EXPECT_FALSE(gang.was_alarm());
}

TEST(Hangs, AShorterHangAfterIsObeyed) {
  HangPolicy policy;
  policy.after = seconds(20);
  GangWorld gang(kNodes, 1, policy);
  gang.run(seconds(30));
  gang.each([](SimRank& one) { one.waits("MPI_Barrier"); });
  const Instant began = gang.now();
  gang.run(minutes(2));
  ASSERT_TRUE(gang.was_alarm());
  EXPECT_GE(*gang.alarm_at() - began, seconds(20));
  EXPECT_LE(*gang.alarm_at() - began, seconds(80));
}

}  // namespace
}  // namespace lockstep::runner
