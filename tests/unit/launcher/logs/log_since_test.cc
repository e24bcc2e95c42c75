// Times of log lines: kept beside the bytes, found again, and sent to those who ask for them.

#include <gtest/gtest.h>

#include "launcher/logs/log_followers.h"
#include "tests/unit/launcher/logs/fake_log_directory.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

constexpr Instant at(std::int64_t s) { return {s * 1'000'000'000}; }
const LogKey kKey{{JobId("job"), 1}, 0, LogStream::out};

class LogSinceTest : public testing::Test {
 protected:
  LogSinceTest() { directory_.jobs[JobId("job")] = {1, false, "Running"}; }
  void append(std::string_view data, std::vector<LogTime> times) {
    const std::uint64_t end = store_.extent(kKey)->written;
    ASSERT_TRUE(store_.append(kKey, end, data, times));
  }
  // "one\n" at 10 s, "two\nthr" at 20 s, "ee\nfour\n" at 30 s.
  void fill() {
    append("one\n", {{0, at(10)}});
    append("two\nthr", {{4, at(20)}});
    append("ee\nfour\n", {{11, at(30)}});
  }
  std::uint64_t since(std::int64_t s) { return *store_.since_offset(kKey, at(s)); }
  std::vector<LogChunk> follow(LogFollow request) {
    std::vector<LogChunk> chunks;
    LogFollowers followers(store_, directory_,
                           [&](const std::string&, std::uint64_t, BulkMessage body) {
                             if (auto* chunk = std::get_if<LogChunk>(&body))
                               chunks.push_back(std::move(*chunk));
                             return true;
                           });
    request.job = JobId("job");
    request.follow = false;
    EXPECT_TRUE(followers.follow("peer", 1, request));
    return chunks;
  }

  test::TempDir dir_;
  LogStore store_{dir_.path()};
  test::FakeLogDirectory directory_;
};

TEST_F(LogSinceTest, BeginsAtTheFirstLineThatBeganSoLate) {
  fill();
  EXPECT_EQ(since(0), 0u);
  EXPECT_EQ(since(10), 0u);
  EXPECT_EQ(since(11), 4u);
  EXPECT_EQ(since(20), 4u);
  EXPECT_EQ(since(21), 14u) << "the rest of 'three' belongs to a line that began before";
  EXPECT_EQ(since(31), 19u) << "nothing is as late; what comes will be";
}

TEST_F(LogSinceTest, WithoutTimesEverythingIsShown) {
  append("one\n", {});
  EXPECT_EQ(since(100), 0u);
}

TEST_F(LogSinceTest, AChunkThatComesTwiceHasItsTimesOnce) {
  const std::vector<LogTime> times{{0, at(10)}, {2, at(11)}};
  ASSERT_TRUE(store_.append(kKey, 0, "ab", {{0, at(10)}}));
  ASSERT_TRUE(store_.append(kKey, 0, "abcd", times));
  EXPECT_EQ(store_.times(kKey, 0, 100), times);
}

TEST_F(LogSinceTest, AFollowerGetsLinesSinceAndTheirTimesWhenItAsks) {
  fill();
  LogFollow request;
  request.since = at(20);
  auto chunks = follow(request);
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].offset, 4u);
  EXPECT_EQ(chunks[0].data, "two\nthree\nfour\n");
  EXPECT_TRUE(chunks[0].times.empty());
  request.times = true;
  chunks = follow(request);
  EXPECT_EQ(chunks[0].times, (std::vector<LogTime>{{4, at(20)}, {11, at(30)}}));
  request.tail_lines = 1;
  chunks = follow(request);
  ASSERT_EQ(chunks.size(), 1u);
  EXPECT_EQ(chunks[0].data, "four\n");
  EXPECT_EQ(chunks[0].times, (std::vector<LogTime>{{11, at(30)}})) << "the entry it belongs to";
}

}  // namespace
}  // namespace lockstep::launcher
