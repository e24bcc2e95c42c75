#include "common/io/attempt/log_times.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "common/io/file_system.h"
#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

constexpr Instant at(std::int64_t ms) { return {ms * 1'000'000}; }

class LogTimesTest : public testing::Test {
 protected:
  TempDir dir_;
  LogTimes times_{dir_ / "rank_0.stdout"};
};

using Entries = std::vector<LogTime>;

TEST_F(LogTimesTest, WithoutAFileNothingIsKnown) {
  EXPECT_FALSE(times_.known());
  EXPECT_TRUE(times_.between(0, 100, 10, true).empty());
  EXPECT_EQ(times_.first_since(at(5)), std::nullopt);
  times_.free_before(100);
}

// A damaged file holds any times: the step added to the latest of them was one beyond what there
// is.
TEST_F(LogTimesTest, ATimeBeyondAllOthersIsAfterThem) {
  ASSERT_TRUE(times_.append({{7, Instant::never()}}));
  EXPECT_EQ(times_.first_since(at(5)), 7U);
  EXPECT_EQ(times_.first_since({INT64_MIN}), 7U);
}

TEST_F(LogTimesTest, EntriesOfARangeAndTheOneThatItsBeginBelongsTo) {
  ASSERT_TRUE(times_.append({{0, at(1000)}, {10, at(2000)}}));
  ASSERT_TRUE(times_.append({{20, at(3000)}}));
  EXPECT_EQ(times_.between(0, 100, 10, true),
            (Entries{{0, at(1000)}, {10, at(2000)}, {20, at(3000)}}));
  EXPECT_EQ(times_.between(10, 20, 10, false), (Entries{{10, at(2000)}}));
  EXPECT_EQ(times_.between(10, 20, 10, true), (Entries{{10, at(2000)}}));
  EXPECT_EQ(times_.between(15, 20, 10, true), (Entries{{10, at(2000)}}));
  EXPECT_EQ(times_.between(15, 20, 10, false), Entries{});
  EXPECT_EQ(times_.between(25, 30, 10, true), (Entries{{20, at(3000)}}));
}

TEST_F(LogTimesTest, TooManyAreThinnedOutEvenly) {
  Entries many;
  for (int i = 0; i < 10'000; ++i)
    many.push_back({static_cast<std::uint64_t>(i), at(1000 + 300 * i)});
  ASSERT_TRUE(times_.append(many));
  const auto found = times_.between(0, 10'000, 100, true);
  ASSERT_EQ(found.size(), 100u);
  EXPECT_EQ(found[0].offset, 0u);
  EXPECT_EQ(found[1].offset, 100u);
  EXPECT_EQ(found[99].offset, 9'900u);
}

TEST_F(LogTimesTest, SinceFindsTheFirstBytesThatMayBeAsLate) {
  ASSERT_TRUE(times_.append({{0, at(1000)}, {10, at(2000)}, {20, at(60'000)}}));
  EXPECT_EQ(times_.first_since(at(0)), 0u);
  EXPECT_EQ(times_.first_since(at(1100)), 0u) << "within the step of the entry";
  EXPECT_EQ(times_.first_since(at(1250)), 10u);
  EXPECT_EQ(times_.first_since(at(30'000)), 20u);
  EXPECT_EQ(times_.first_since(at(70'000)), std::nullopt);
}

TEST_F(LogTimesTest, ACutRecordIsWrittenOver) {
  ASSERT_TRUE(times_.append({{0, at(1000)}, {10, at(2000)}}));
  ASSERT_EQ(truncate(times_.path().c_str(), 23), 0);
  EXPECT_EQ(times_.between(0, 100, 10, true), (Entries{{0, at(1000)}}));
  ASSERT_TRUE(times_.append({{12, at(3000)}}));
  EXPECT_EQ(times_.between(0, 100, 10, true), (Entries{{0, at(1000)}, {12, at(3000)}}));
}

TEST_F(LogTimesTest, WhatIsFreedIsNotFoundAndTheRestIs) {
  Entries many;
  for (int i = 0; i < 2'000; ++i)
    many.push_back({static_cast<std::uint64_t>(i) * 10, at(1000 + 1000 * i)});
  ASSERT_TRUE(times_.append(many));
  times_.free_before(15'000);
  EXPECT_EQ(times_.between(15'005, 15'010, 10, true), (Entries{{15'000, at(1'501'000)}}));
  EXPECT_EQ(times_.first_since(at(1'600'000)), 15'990u);
}

TEST_F(LogTimesTest, GarbageDoesNoHarm) {
  ASSERT_TRUE(write_file_atomically(times_.path(), std::string(16 * 100, '\xee')));
  EXPECT_TRUE(times_.between(0, 1'000, 10, true).empty());
  (void)times_.first_since(at(1000));
}

}  // namespace
}  // namespace lockstep::io
