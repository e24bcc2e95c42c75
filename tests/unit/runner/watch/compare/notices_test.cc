// What is said of single ranks, and how a list is kept.

#include "tests/unit/runner/watch/compare/gang_world.h"

namespace lockstep::runner {
namespace {

TEST(Notices, TwoClaimsOfOneRank) {
  GangWorld gang(3);
  gang.rank(1).now.claims = 2;
  gang.run(seconds(30));
  const Found* const found = gang.find(FoundKind::two_claims);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->verdict, FoundVerdict::notice);
  EXPECT_EQ(found->ranks.front().rank, 1);
  EXPECT_EQ(found->here, 2);
}

TEST(Notices, DifferentVersionsNameTheFewer) {
  GangWorld gang(4);
  gang.each([](SimRank& one) { one.now.versions.mpi = "5.0.7"; });
  gang.rank(2).now.versions.mpi = "4.1.4";
  gang.run(seconds(30));
  const Found* const found = gang.find(FoundKind::different_versions);
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->ranks.size(), 1U);
  EXPECT_EQ(found->ranks.front().rank, 2);
  EXPECT_EQ(found->fact, "MPI 4.1.4 (the others 5.0.7)");
}

TEST(Notices, ARankThatHasNotLoadedALibraryYetHasNoOtherVersion) {
  GangWorld gang(4);
  gang.each([](SimRank& one) { one.now.versions.torch = "2.6.0"; });
  gang.rank(2).now.versions.torch = "";
  gang.run(seconds(30));
  EXPECT_EQ(gang.find(FoundKind::different_versions), nullptr);
}

TEST(Notices, ARankInTheKernelsHandsWhileTheOthersWait) {
  GangWorld gang(3);
  gang.run(seconds(30));
  gang.rank(0).waits("MPI_Barrier");
  gang.rank(1).waits("MPI_Barrier");
  gang.rank(2).now.doing = Doing::device;
  gang.rank(2).now.call = "fsync";
  gang.run(seconds(60));
  ASSERT_NE(gang.find(FoundKind::device_wait), nullptr);
  EXPECT_EQ(gang.find(FoundKind::device_wait)->verdict, FoundVerdict::notice);
  gang.run(minutes(3));
  const Found* const found = gang.find(FoundKind::device_wait);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->verdict, FoundVerdict::waits);
  EXPECT_EQ(found->waiting, (std::vector<int>{0, 1}));
  EXPECT_FALSE(gang.was_alarm());
}

TEST(Notices, NobodyHasMetAndOneCannotConnect) {
  GangWorld gang(3);
  gang.each([](SimRank& one) { one.now.has_met = false; });
  gang.rank(1).now.doing = Doing::reads;
  gang.rank(1).now.call = "connect";
  gang.rank(1).now.on = "10.0.0.1:29500";
  gang.run(seconds(75));
  const Found* const found = gang.find(FoundKind::not_started);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks.size(), 1U);
  EXPECT_EQ(found->ranks.front().rank, 1);
}

TEST(Notices, ALongImportOfAllRanksIsNothing) {
  GangWorld gang(3);
  gang.each([](SimRank& one) { one.now.has_met = false; });
  gang.run(minutes(10));
  EXPECT_TRUE(gang.found().empty()) << shown(gang.found().front());
}

TEST(Notices, AListKeepsItsNumbersWhileItSaysTheSame) {
  GangWorld gang(3);
  gang.run(seconds(30));
  gang.rank(0).waits("MPI_Barrier");
  gang.rank(1).waits("MPI_Barrier");
  gang.rank(2).computes("loop.py:7");
  gang.run(minutes(4));
  const FoundList before = gang.found();
  gang.run(minutes(1));
  EXPECT_EQ(gang.found(), before);
  EXPECT_TRUE(says_same(gang.found(), before));
  EXPECT_FALSE(says_same(gang.found(), {}));
}

// A gang of many ranks names a bounded number of them.
TEST(Notices, BoundsOfAList) {
  GangWorld gang(50, 100);
  gang.run(seconds(30));
  gang.each([](SimRank& one) { one.waits("MPI_Barrier"); });
  for (int rank = 0; rank < 100; ++rank) gang.rank(rank).computes();
  gang.run(minutes(3));
  const Found* const found = gang.find(FoundKind::waits);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->ranks.size(), kMaxFoundRanks);
  EXPECT_EQ(found->waiting.size(), kMaxFoundWaiting);
}

TEST(Notices, AddressesWithPortsAndOfSeveralNodes) {
  GangShape shape;
  shape.add_address("10.0.0.1", 0);
  shape.add_address("fe80::1", 1);
  shape.add_address("10.0.0.9", 2);
  shape.add_address("10.0.0.9", 3);
  EXPECT_EQ(node_of_address(shape, "10.0.0.1:29500"), 0);
  EXPECT_EQ(node_of_address(shape, "10.0.0.1"), 0);
  EXPECT_EQ(node_of_address(shape, "[fe80::1]:80"), 1);
  EXPECT_EQ(node_of_address(shape, "fe80::1"), 1);
  EXPECT_EQ(node_of_address(shape, "10.0.0.9:1"), -1);
  EXPECT_EQ(node_of_address(shape, "/data/a.bin"), -1);
  EXPECT_EQ(node_of_address(shape, ""), -1);
}

}  // namespace
}  // namespace lockstep::runner
