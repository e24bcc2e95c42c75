// What looks like a hang and is none: no alarm may come of it.

#include "tests/unit/runner/watch/compare/gang_world.h"

namespace lockstep::runner {
namespace {

constexpr int kNodes = 4;

void others_wait(GangWorld& gang, int busy) {
  for (int rank = 0; rank < gang.ranks(); ++rank)
    if (rank != busy) gang.rank(rank).waits("MPI_Barrier");
}

void all_go_on(GangWorld& gang) {
  gang.each([](SimRank& one) {
    one.computes();
    one.moved = true;
  });
  gang.run(seconds(20));
}

TEST(NoHangs, ACompileOfTenMinutes) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) {
    one.computes("model.py:12");
    one.now.processes = 9;
    one.flows = true;  // its compilers use cpu time
  });
  gang.run(minutes(10));
  EXPECT_TRUE(gang.found().empty());
  gang.each([](SimRank& one) { one.flows = false; });
  others_wait(gang, 2);
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  all_go_on(gang);
  EXPECT_TRUE(gang.found().empty());
}

TEST(NoHangs, ARankThatLoadsDataAloneForFiveMinutes) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 1);
  gang.rank(1).reads("/data/index");
  gang.run(minutes(5));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  ASSERT_NE(gang.find(FoundKind::waits), nullptr);
  all_go_on(gang);
  EXPECT_TRUE(gang.found().empty());
}

TEST(NoHangs, AnEvaluationOnRankZeroOnly) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 0);
  gang.rank(0).computes("eval.py:88");
  gang.run(minutes(20));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  ASSERT_NE(gang.find(FoundKind::waits), nullptr);
  EXPECT_EQ(gang.find(FoundKind::waits)->verdict, FoundVerdict::waits);
}

// It lags by one collective, and will launch it.
TEST(NoHangs, AnEvaluationOnRankZeroOnlyOverNccl) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) {
    one.waits("cudaStreamSynchronize", "train.py:88");
    one.now.collectives = {{"c0ffee", "AllReduce", 512}};
  });
  gang.rank(0).now.collectives[0].count = 511;
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << "it waits for its GPU, which may evaluate";
  gang.rank(0).computes("eval.py:88");
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  const Found* const found = gang.find(FoundKind::waits);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks.front().rank, 0);
  EXPECT_EQ(found->fact, "AllReduce");
}

TEST(NoHangs, Sleep) {
  GangWorld gang(kNodes);
  gang.each([](SimRank& one) { one.sleeps(); });
  gang.run(minutes(30));
  EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
  others_wait(gang, 3);
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

TEST(NoHangs, AServerRank) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 0);
  gang.rank(0).now.doing = Doing::serves;
  gang.rank(0).now.call = "epoll_wait";
  gang.run(minutes(30));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

TEST(NoHangs, AFutexWithATimeOut) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 2);
  gang.rank(2).locks();
  gang.rank(2).now.has_timeout = true;
  gang.run(minutes(30));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

TEST(NoHangs, ADebuggerHoldsARank) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 2);
  gang.rank(2).stops();
  gang.rank(2).now.traced = true;
  gang.run(minutes(30));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_EQ(gang.find(FoundKind::stopped), nullptr);
}

// A rank that has computed for long and now waits like the others has waited for a moment.
TEST(NoHangs, ALongComputationJustBeforeABarrier) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 0);
  gang.rank(0).computes("eval.py:88");
  gang.run(minutes(10));
  gang.rank(0).waits("MPI_Barrier");
  gang.run(seconds(60));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  all_go_on(gang);
  gang.run(minutes(5));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

TEST(NoHangs, AllMachinesArePaused) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  for (int i = 0; i < 4; ++i) {
    gang.each([](SimRank& one) { one.waits("MPI_Barrier"); });
    gang.run(seconds(40));
    gang.pause_all(minutes(30));
    gang.run(seconds(30));
    EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
    EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
    all_go_on(gang);
  }
}

TEST(NoHangs, OneMachineIsPausedForAWhile) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(2).waits("MPI_Barrier");  // for a moment only: then its machine stands still
  gang.run(seconds(12));
  gang.pause_node(2, seconds(100));
  others_wait(gang, 2);
  gang.run(seconds(102));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  all_go_on(gang);
  gang.run(minutes(5));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_TRUE(gang.found().empty());
}

// What a node told before it stood still is old: it is asked again, and does not answer.
TEST(NoHangs, AMachineThatStandsStillIsNoCircle) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(2).waits("MPI_Barrier");
  gang.run(seconds(12));
  gang.pause_node(2, minutes(20));
  others_wait(gang, 2);
  gang.run(minutes(15));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

TEST(NoHangs, TheRunnerOfNodeRankZeroStandsStill) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) { one.waits("MPI_Barrier"); });
  gang.run(seconds(20));
  gang.pause_node(0, minutes(10));
  gang.run(minutes(10) - seconds(30));
  gang.each([](SimRank& one) {
    one.computes();
    one.moved = true;
  });
  gang.run(minutes(5));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

TEST(NoHangs, ANodeThatJoinsLate) {
  GangWorld gang(kNodes);
  gang.each([](SimRank& one) { one.now.has_met = true; });
  gang.rank(3).now.has_met = false;
  others_wait(gang, 3);
  gang.join_at(3, gang.now() + minutes(10));
  gang.run(minutes(10));
  EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
  gang.run(seconds(20));
  EXPECT_TRUE(gang.found().empty()) << "it has just come";
  gang.rank(3).now.has_met = true;
  all_go_on(gang);
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_TRUE(gang.found().empty());
}

TEST(NoHangs, RanksThatLeaveOneAfterTheOther) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  for (int rank = 0; rank < 3; ++rank) {
    gang.rank(rank).exits();
    gang.run(minutes(3));
    EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
  }
  EXPECT_FALSE(gang.was_alarm());
}

TEST(NoHangs, ARankLeftWhileOneOfTheOthersStillWorks) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(3).exits();
  gang.rank(1).waits("MPI_Recv");
  gang.rank(2).waits("MPI_Recv");
  gang.run(minutes(30));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_EQ(gang.find(FoundKind::left_early), nullptr);
}

TEST(NoHangs, StacksAreSeldomTakenOfRanksThatWorkOnAfterOneHasLeft) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(3).exits();
  gang.run(minutes(60));
  EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
  EXPECT_LE(gang.looks(), 40);
}

// Rank 0 collects what the others send now and then; of these, another one waits each time.
TEST(NoHangs, StacksAreSeldomTakenOfThoseForWhomAMasterWaits) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(0).waits("MPI_Recv");
  for (int i = 0; i < 60; ++i) {
    for (int rank = 1; rank < kNodes; ++rank) {
      if (i % kNodes == rank)
        gang.rank(rank).waits("MPI_Barrier");
      else
        gang.rank(rank).computes();
      gang.rank(rank).moved = true;
    }
    gang.run(minutes(2));
  }
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_LE(gang.looks(), 25);
}

// A barrier that all ranks enter with their GPUs' work of ten minutes ahead of them.
TEST(NoHangs, LongWorkOfAllGpus) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) {
    one.waits("barrier", "train.py:88");
    one.now.collectives = {{"c0ffee", "AllReduce", 512}};
    one.now.versions.nccl = "2.27.3";
  });
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

// A benchmark over shared memory: always in the same call, and nothing of it is seen to move.
TEST(NoHangs, ALoopOfMessagesThatCannotBeSeen) {
  GangWorld gang(1, 4);
  gang.each([](SimRank& one) { one.now.peer_sockets = 0; });
  gang.run(seconds(30));
  gang.each([](SimRank& one) {
    one.waits("MPI_Allreduce", "bench.c:40");
    one.now.cpu_milli = 1000;
  });
  gang.run(minutes(20));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  const Found* const found = gang.find(FoundKind::cycle);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->verdict, FoundVerdict::waits);
}

// Rank 1 asks the store, which rank 0 has, for what rank 2 will put there.
TEST(NoHangs, ARankThatWaitsAtTheStoreIsInNoCircle) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.rank(1).waits_on("10.0.0.1:" + std::to_string(GangWorld::kStorePort), "10.0.0.2:50000");
  gang.rank(0).waits_on("10.0.0.2:4444", "10.0.0.1:5000");
  gang.rank(2).reads("/data/index");
  gang.rank(3).waits("MPI_Barrier");
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_EQ(gang.find(FoundKind::cycle), nullptr);
}

TEST(NoHangs, AsLongAsOneRankMoves) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  others_wait(gang, 3);
  gang.rank(3).waits("MPI_Send");
  gang.rank(3).flows = true;
  gang.run(minutes(30));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
}

// Their stacks show no call of a library in which ranks wait for each other.
TEST(NoHangs, RanksThatWaitForAServerOnANodeOfTheGang) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  for (int rank = 0; rank < 4; ++rank) {
    gang.rank(rank).waits_on("10.0.0.1:48123", gang.address_of(rank) + ":50000");
    gang.rank(rank).now.by_stack = true;
    gang.rank(rank).now.at = "query.py:4";
  }
  gang.run(minutes(10));
  ASSERT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  ASSERT_EQ(gang.found().size(), 1U);
  EXPECT_EQ(gang.found().front().verdict, FoundVerdict::waits);
}

TEST(NoHangs, WhoWaitsForAServerDoesNotWaitForARankThatHasEnded) {
  GangWorld gang(kNodes);
  gang.run(seconds(30));
  gang.each([](SimRank& one) { one.exits(); });
  gang.rank(0).waits_on("10.0.0.1:48123", "10.0.0.1:50000");
  gang.rank(0).now.exit_code = 0;
  gang.rank(0).now.by_stack = true;
  gang.rank(0).now.at = "query.py:4";
  gang.run(minutes(10));
  EXPECT_FALSE(gang.was_alarm()) << shown(gang.alarm());
  EXPECT_EQ(gang.find(FoundKind::left_early), nullptr);
}

}  // namespace
}  // namespace lockstep::runner
