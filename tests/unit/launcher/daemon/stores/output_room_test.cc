// How much of final outputs a node may send when their owner has a limit.

#include "launcher/daemon/stores/output_room.h"

#include <gtest/gtest.h>

namespace lockstep::launcher {
namespace {

constexpr std::uint64_t kMib = 1u << 20;
const OutputRoom::PartKey kTrain{{JobId("train"), 1}, NodeId(1)};
const OutputRoom::PartKey kOther{{JobId("other"), 1}, NodeId(2)};

TEST(OutputRoom, WithoutALimitAllIsTaken) {
  OutputRoom room;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(room.take(kTrain, "bob", 1'000 * kMib, {}));
}

TEST(OutputRoom, BeyondTheLimitWaitsUntilThereIsMoreRoomThanTheLastTime) {
  OutputRoom room;
  const auto may = [&](std::uint64_t free) { return room.take(kTrain, "bob", 10 * kMib, {free}); };
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(may(100 * kMib)) << i;
  EXPECT_FALSE(may(100 * kMib));
  EXPECT_FALSE(may(100 * kMib)) << "it does not send the same again and again";
  EXPECT_TRUE(may(200 * kMib)) << "somebody made room";
  for (int i = 1; i < 20; ++i) EXPECT_TRUE(may(200 * kMib)) << i << ": it begins anew";
  EXPECT_FALSE(may(200 * kMib));
}

TEST(OutputRoom, ALittleIsAlwaysTakenAndWhatReplacesTheVersionsOfBefore) {
  OutputRoom room;
  EXPECT_TRUE(room.take(kTrain, "bob", kLastOutputs, {0}));
  EXPECT_FALSE(room.take(kTrain, "bob", kMib, {0}));
  EXPECT_TRUE(room.take(kOther, "ann", 100 * kMib, {0, 100 * kMib}));
}

TEST(OutputRoom, PartsOfOneOwnerShareTheRoomUntilTheyAreReported) {
  OutputRoom room;
  EXPECT_TRUE(room.take(kTrain, "bob", 80 * kMib, {100 * kMib}));
  EXPECT_FALSE(room.take(kOther, "bob", 30 * kMib, {100 * kMib}));
  OutputRoom of_two;
  EXPECT_TRUE(of_two.take(kTrain, "bob", 80 * kMib, {100 * kMib}));
  EXPECT_TRUE(of_two.take(kOther, "ann", 30 * kMib, {100 * kMib}));
  room.keep_only([](const OutputRoom::PartKey& part) { return part != kTrain; });
  EXPECT_TRUE(room.take(kOther, "bob", 30 * kMib, {100 * kMib}));
}

}  // namespace
}  // namespace lockstep::launcher
