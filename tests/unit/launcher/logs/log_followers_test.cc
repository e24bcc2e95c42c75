#include "launcher/logs/log_followers.h"

#include <gmock/gmock.h>

#include "tests/unit/launcher/logs/fake_log_directory.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LogFollowersTest : public testing::Test {
 protected:
  LogFollowersTest() { directory_.jobs[JobId("job")] = {1, false, "Running"}; }

  static std::string mark_of(LogStream stream) {
    switch (stream) {
      case LogStream::out: return "";
      case LogStream::err: return "e";
      case LogStream::environment: return "environment";
    }
    return "?";
  }
  bool take(std::uint64_t reply_to, const BulkMessage& body) {
    EXPECT_EQ(reply_to, 5u);
    if (gone_) return false;
    if (const auto* chunk = std::get_if<LogChunk>(&body)) {
      sent_.push_back(std::to_string(chunk->key.rank) + mark_of(chunk->key.stream) + "@" +
                      std::to_string(chunk->offset) + ":" +
                      (chunk->data.size() > 20 ? "long" : chunk->data));
      nodes_.push_back(chunk->node_name);
      more_.push_back(chunk->more);
      bytes_ += chunk->data.size();
    }
    if (const auto* end = std::get_if<LogEnd>(&body)) sent_.push_back("end " + end->status);
    return true;
  }
  void write(int rank, std::string_view data, LogStream stream = LogStream::out,
             std::uint32_t attempt = 1) {
    const LogKey key{{JobId("job"), attempt}, rank, stream};
    ASSERT_TRUE(store_.append(key, store_.extent(key)->written, data));
    followers_.grew(key);
  }
  LogFollow request() {
    LogFollow follow;
    follow.job = JobId("job");
    return follow;
  }
  void follow(const LogFollow& request) {
    const auto done = followers_.follow("peer", 5, request);
    ASSERT_TRUE(done) << done.error().message;
  }
  void finish() {
    directory_.jobs[JobId("job")].final = true;
    directory_.jobs[JobId("job")].status = "Completed";
    followers_.job_changed(JobId("job"));
  }
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }

  test::TempDir dir_;
  LogStore store_{dir_.path()};
  test::FakeLogDirectory directory_;
  bool gone_ = false;
  std::size_t bytes_ = 0;
  std::vector<std::string> sent_, nodes_;
  std::vector<bool> more_;
  LogFollowers followers_{
      store_, directory_,
      [this](const std::string&, std::uint64_t to, BulkMessage body) { return take(to, body); }};
};

TEST_F(LogFollowersTest, SendsWhatIsThereThenWhatComesThenTheEnd) {
  write(0, "early\n");
  follow(request());
  EXPECT_THAT(sent(), ElementsAre("0@0:early\n"));
  write(1, "new\n");
  write(0, "late\n");
  EXPECT_THAT(sent(), ElementsAre("1@0:new\n", "0@6:late\n"));
  finish();
  EXPECT_THAT(sent(), ElementsAre("end Completed"));
  EXPECT_EQ(followers_.count(), 0u);
}

TEST_F(LogFollowersTest, WithoutFollowItEndsAtOnce) {
  write(0, "a\n");
  auto once = request();
  once.follow = false;
  follow(once);
  EXPECT_THAT(sent(), ElementsAre("0@0:a\n", "end Running"));
}

TEST_F(LogFollowersTest, Filters) {
  write(0, "a");
  write(0, "b", LogStream::err);
  write(1, "c");
  write(2, "d");
  auto one = request();
  one.follow = false;
  one.rank = 1;
  follow(one);
  EXPECT_THAT(sent(), ElementsAre("1@0:c", "end Running"));
  one.rank.reset();
  one.stream = LogStream::err;
  follow(one);
  EXPECT_THAT(sent(), ElementsAre("0e@0:b", "end Running"));
  one.stream.reset();
  one.node_rank = 1;
  follow(one);
  EXPECT_THAT(sent(), ElementsAre("2@0:d", "end Running"));
}

TEST_F(LogFollowersTest, FiltersOfEnvironments) {
  write(0, "solve\nbuild\n", LogStream::environment);
  write(1, "wait\nbuild\n", LogStream::environment);
  write(1, "out of rank 1");
  write(2, "out of rank 2");
  auto some = request();
  some.follow = false;
  some.stream = LogStream::environment;
  follow(some);
  EXPECT_THAT(sent(), ElementsAre("0environment@0:solve\nbuild\n", "1environment@0:wait\nbuild\n",
                                  "end Running"));
  EXPECT_THAT(nodes_, ElementsAre("n1", "n2"));
  some.tail_lines = 1;
  follow(some);
  EXPECT_THAT(sent(),
              ElementsAre("0environment@6:build\n", "1environment@5:build\n", "end Running"));
  some.tail_lines = -1;
  some.stream.reset();
  some.node_rank = 1;
  follow(some);
  EXPECT_THAT(sent(),
              ElementsAre("1environment@0:wait\nbuild\n", "2@0:out of rank 2", "end Running"));
  some.ranks_only = true;
  follow(some);
  EXPECT_THAT(sent(), ElementsAre("2@0:out of rank 2", "end Running"));
  some.ranks_only = false;
  some.node_rank.reset();
  some.rank = 1;
  follow(some);
  EXPECT_THAT(sent(), ElementsAre("1@0:out of rank 1", "end Running")) << "rank 1, not node 1";
  some.rank.reset();
  some.stream = LogStream::out;
  follow(some);
  EXPECT_THAT(sent(), ElementsAre("1@0:out of rank 1", "2@0:out of rank 2", "end Running"));
}

TEST_F(LogFollowersTest, EnvironmentsComeBeforeTheRanksOfTheirAttempt) {
  auto late = request();
  late.credit = 0;
  late.attempt = 0;
  follow(late);
  const std::string two_chunks(2 * kFollowChunkBytes, 'x');
  write(0, "a");
  write(0, two_chunks, LogStream::environment);
  write(1, two_chunks, LogStream::environment);
  write(3, "b");
  directory_.jobs[JobId("job")].attempts = 2;
  write(0, "next", LogStream::environment, 2);
  followers_.credit("peer", 100);
  EXPECT_THAT(sent(),
              ElementsAre("0environment@0:long", "1environment@0:long", "0environment@65536:long",
                          "1environment@65536:long", "0@0:a", "3@0:b", "0environment@0:next"));
}

TEST_F(LogFollowersTest, TailIsPerLogAndWhatComesLaterIsWhole) {
  write(0, "1\n2\n3\n");
  auto tail = request();
  tail.tail_lines = 1;
  follow(tail);
  write(1, "a\nb\n");
  EXPECT_THAT(sent(), ElementsAre("0@4:3\n", "1@0:a\nb\n"));
}

TEST_F(LogFollowersTest, GoesOnWhereAnInterruptedOneStopped) {
  write(0, "abcdef");
  auto again = request();
  again.resume = {{LogKey{{JobId("job"), 1}, 0, LogStream::out}, 4}};
  follow(again);
  EXPECT_THAT(sent(), ElementsAre("0@4:ef"));
}

TEST_F(LogFollowersTest, ALaterAttemptFollowsTheRestOfTheEarlierOne) {
  write(0, "first");
  follow(request());
  sent();
  directory_.jobs[JobId("job")].attempts = 2;
  write(0, "second", LogStream::out, 2);
  EXPECT_THAT(sent(), ElementsAre("0@0:second"));
  auto again = request();
  again.resume = {{LogKey{{JobId("job"), 1}, 0, LogStream::out}, 2}};
  follow(again);
  EXPECT_THAT(sent(), ElementsAre("0@2:rst", "0@0:second"));
  auto newest = request();
  newest.follow = false;
  follow(newest);
  EXPECT_THAT(sent(), ElementsAre("0@0:second", "end Running"));
  newest.attempt = 1;
  follow(newest);
  EXPECT_THAT(sent(), ElementsAre("0@0:first", "end Running"));
}

TEST_F(LogFollowersTest, AClientThatNeverReadsGetsItsCreditAndNoMore) {
  auto small = request();
  small.credit = 2;
  follow(small);
  for (int i = 0; i < 10; ++i) write(0, std::string(kFollowChunkBytes, 'x'));
  EXPECT_EQ(sent().size(), 2u);
  EXPECT_EQ(bytes_, 2 * kFollowChunkBytes);
  followers_.credit("peer", 3);
  EXPECT_EQ(sent().size(), 3u);
  finish();
  EXPECT_THAT(sent(), IsEmpty()) << "the end comes after the data";
  followers_.credit("peer", 100);
  const auto rest = sent();
  EXPECT_EQ(rest.size(), 6u);
  EXPECT_EQ(rest.back(), "end Completed");
}

TEST_F(LogFollowersTest, CreditHasABound) {
  auto greedy = request();
  greedy.credit = UINT32_MAX;
  follow(greedy);
  followers_.credit("peer", UINT32_MAX);
  for (std::uint32_t i = 0; i < kMaxFollowCredit + 10; ++i) write(0, "x");
  EXPECT_EQ(sent().size(), kMaxFollowCredit);
}

TEST_F(LogFollowersTest, TakesTurnsAmongRanks) {
  auto starved = request();
  starved.credit = 0;
  follow(starved);
  const std::string two_chunks(2 * kFollowChunkBytes, 'x');
  write(0, two_chunks);
  write(1, two_chunks);
  followers_.credit("peer", 4);
  EXPECT_THAT(sent(), ElementsAre("0@0:long", "1@0:long", "0@65536:long", "1@65536:long"));
}

// A chunk begins with the oldest byte of all that wait, so that a reader can put lines in order.
TEST_F(LogFollowersTest, OfTheLogsThatWaitTheOldestByteIsSentFirst) {
  const auto at = [](std::int64_t ms) { return Instant{1'000'000'000'000 + ms * 1'000'000}; };
  const auto write_at = [&](int rank, std::string_view data, std::vector<LogTime> times) {
    const LogKey key{{JobId("job"), 1}, rank, LogStream::out};
    ASSERT_TRUE(store_.append(key, store_.extent(key)->written, data, times));
  };
  const std::string late(kFollowChunkBytes, 'x');
  write_at(0, "a\n" + late, {{0, at(10)}, {2, at(50)}});
  write_at(1, "b\n" + late, {{0, at(5)}, {2, at(40)}});
  write_at(2, "c\n", {{0, at(45)}});
  auto once = request();
  once.follow = false;
  follow(once);
  EXPECT_THAT(sent(),
              ElementsAre("1@0:b\n", "0@0:a\n", "1@2:long", "2@0:c\n", "0@2:long", "end Running"));
}

TEST_F(LogFollowersTest, AChunkSaysWhetherOthersWait) {
  write(0, "a\n");
  write(1, "b\n");
  follow(request());
  EXPECT_THAT(more_, ElementsAre(true, false));
  write(0, "c\n");
  EXPECT_THAT(more_, ElementsAre(true, false, false));
}

TEST_F(LogFollowersTest, APeerThatIsGoneIsForgotten) {
  follow(request());
  EXPECT_EQ(followers_.count(), 1u);
  gone_ = true;
  write(0, "a");
  EXPECT_EQ(followers_.count(), 0u);
}

TEST_F(LogFollowersTest, RefusesWhatIsNotThere) {
  auto wrong = request();
  wrong.job = JobId("nope");
  EXPECT_EQ(followers_.follow("peer", 5, wrong).error().code, ErrorCode::not_found);
  wrong = request();
  wrong.attempt = 7;
  EXPECT_EQ(followers_.follow("peer", 5, wrong).error().code, ErrorCode::not_found);
}

TEST_F(LogFollowersTest, AJobWithoutAnAttemptIsFollowedFromItsFirst) {
  directory_.jobs[JobId("job")].attempts = 0;
  follow(request());
  directory_.jobs[JobId("job")].attempts = 1;
  write(0, "hello");
  EXPECT_THAT(sent(), ElementsAre("0@0:hello"));
}

}  // namespace
}  // namespace lockstep::launcher
