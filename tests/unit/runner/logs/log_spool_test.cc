// The bound on what is captured and not taken yet: ranks block at it and lose nothing, one rank
// does not silence the others, and what was taken gives its disk space back.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io/attempt/log_times.h"
#include "runner/logs/log_capture.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

constexpr std::uint64_t kSpool = 1 << 20;

// A rank that writes as fast as it can, without ever blocking this test.
class Writer {
 public:
  explicit Writer(io::Fd fd) : fd_(std::move(fd)) { fcntl(fd_.get(), F_SETFL, O_NONBLOCK); }
  // As much of `text` as the pipe takes; what was written is remembered.
  void write_some(const std::string& text) {
    const ssize_t got = ::write(fd_.get(), text.data(), text.size());
    if (got > 0) written_ += text.substr(0, static_cast<std::size_t>(got));
  }
  bool blocked() const {
    pollfd item{fd_.get(), POLLOUT, 0};
    return ::poll(&item, 1, 0) == 0;
  }
  const std::string& written() const { return written_; }
  void close() { fd_.reset(); }

 private:
  io::Fd fd_;
  std::string written_;
};

class LogSpoolTest : public ::testing::Test {
 protected:
  LogSpoolTest() { EXPECT_TRUE(io::make_directories(attempt_.logs())); }

  Writer rank(int number) {
    auto writers = *logs_.open(number, geteuid());
    errors_.push_back(std::move(writers.err));
    return Writer(std::move(writers.out));
  }
  std::uint64_t size(int rank) const {
    for (const LogSize& log : logs_.sizes())
      if (log.rank == rank) return log.stdout_bytes;
    return 0;
  }
  std::string text(int rank) const { return *io::read_file(attempt_.log(rank, LogStream::out)); }
  // Writes until the capture takes no more and the pipe is full.
  void flood(Writer& writer) {
    int number = 0;
    const bool full = turn_until(loop_, [&] {
      for (int i = 0; i < 50; ++i)
        writer.write_some("line " + std::to_string(++number) + std::string(1000, '.') + "\n");
      const std::size_t before = writer.written().size();
      writer.write_some(std::string(4096, 'x'));
      return writer.blocked() && writer.written().size() == before && logs_.retry_at() == Instant{};
    });
    EXPECT_TRUE(full);
  }
  void take_all() { logs_.taken(logs_.sizes()); }

  TemporaryDirectory root_;
  io::AttemptDir attempt_{root_.path()};
  io::EventLoop loop_;
  LogCapture logs_{loop_, attempt_, Bytes{kSpool}};
  std::vector<io::Fd> errors_;
  Instant now_{1'000'000'000'000};
};

TEST_F(LogSpoolTest, ARankThatFillsItsShareWaitsAndTheReasonIsSaid) {
  Writer writer = rank(3);
  flood(writer);
  // One stream alone: the common half, and no more than its share of the other while that is full.
  EXPECT_LE(size(3), kSpool);
  EXPECT_GE(size(3), kSpool / 2);
  logs_.retry(now_);
  EXPECT_EQ(logs_.blocked_reason(), "") << "a short wait is not worth a word";
  EXPECT_EQ(logs_.retry_at(), now_ + seconds(1));
  logs_.retry(now_ + seconds(1));
  EXPECT_NE(
      logs_.blocked_reason().find("output of rank 3 is paused: the launcher has not yet stored"),
      std::string::npos)
      << logs_.blocked_reason();
  take_all();
  logs_.retry(now_ + seconds(2));
  EXPECT_EQ(logs_.blocked_reason(), "");
  const std::string before = writer.written();
  EXPECT_TRUE(turn_until(loop_, [&] { return size(3) == before.size(); }))
      << "it goes on by itself";
  EXPECT_EQ(text(3).substr(text(3).size() - 64), before.substr(before.size() - 64));
  EXPECT_EQ(logs_.retry_at(), Instant::never());
}

TEST_F(LogSpoolTest, OneRankDoesNotSilenceTheOthers) {
  Writer loud = rank(0), quiet = rank(1), other = rank(2);
  flood(loud);
  quiet.write_some("here I am\n");
  EXPECT_TRUE(turn_until(loop_, [&] { return text(1) == "here I am\n"; }));
  flood(quiet);
  flood(other);
  EXPECT_LE(size(0) + size(1) + size(2), kSpool);
  logs_.retry(now_);
  logs_.retry(now_ + seconds(1));
  EXPECT_NE(logs_.blocked_reason().find("output of 3 ranks (the first is 0) is paused"),
            std::string::npos)
      << logs_.blocked_reason();
}

TEST_F(LogSpoolTest, TheEndTakesWhatIsInThePipesWhateverTheSpoolHolds) {
  Writer writer = rank(0);
  flood(writer);
  writer.close();
  ASSERT_TRUE(logs_.drain());
  EXPECT_EQ(size(0), writer.written().size());
  EXPECT_EQ(text(0), writer.written());
}

TEST_F(LogSpoolTest, WhatIsTakenGivesItsSpaceBackButForTheTail) {
  Writer writer = rank(0);
  const std::string line = std::string(99, 'y') + "\n";
  const auto write_and_take = [&](std::uint64_t target) {
    return turn_until(loop_, [&] {
      for (int i = 0; i < 100; ++i) writer.write_some(line);
      take_all();
      return size(0) >= target;
    });
  };
  ASSERT_TRUE(write_and_take(8 << 20));
  struct stat info {};
  ASSERT_EQ(stat(attempt_.log(0, LogStream::out).c_str(), &info), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), size(0)) << "offsets stay";
  EXPECT_LT(info.st_blocks * 512, 2 << 20);
  const std::string end = text(0).substr(size(0) - (60 << 10));
  EXPECT_EQ(end, writer.written().substr(size(0) - (60 << 10), 60 << 10));
}

TEST_F(LogSpoolTest, LateAndStrangeWordsOfWhatWasTakenAreHarmless) {
  Writer writer = rank(0);
  writer.write_some("abc\n");
  ASSERT_TRUE(turn_until(loop_, [&] { return size(0) == 4; }));
  logs_.taken({{0, 1'000'000, 0}, {7, 5, 5}});
  logs_.taken({{0, 2, 0}});
  flood(writer);
  EXPECT_LE(size(0), kSpool + 4);
}

TEST_F(LogSpoolTest, BytesGetTheTimesAtWhichTheyWereRead) {
  Writer writer = rank(0);
  io::SystemClock clock;
  const Instant before = clock.now();
  writer.write_some("one\n");
  ASSERT_TRUE(turn_until(loop_, [&] { return size(0) == 4; }));
  const Instant between = clock.now();
  const auto times = io::LogTimes(attempt_.log(0, LogStream::out)).between(0, 100, 10, true);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].offset, 0u);
  EXPECT_GE(times[0].at + milliseconds(5), before);  // two clocks of one base
  EXPECT_LE(times[0].at, between + milliseconds(5));
}

// The order between two streams is only in their times.
TEST_F(LogSpoolTest, StreamsThatTakeTurnsHaveTheTimesOfTheirTurns) {
  Writer one = rank(0), two = rank(1);
  io::SystemClock clock;
  for (int turn = 0; turn < 3; ++turn)
    for (Writer* writer : {&one, &two}) {
      writer->write_some("line\n");
      const std::uint64_t wanted = 5 * static_cast<std::uint64_t>(turn + 1);
      ASSERT_TRUE(turn_until(loop_, [&] { return size(writer == &one ? 0 : 1) == wanted; }));
      const Instant next = clock.now() + milliseconds(2);
      ASSERT_TRUE(turn_until(loop_, [&] { return clock.now() >= next; }));
    }
  const auto first = io::LogTimes(attempt_.log(0, LogStream::out)).between(0, 100, 10, true);
  const auto second = io::LogTimes(attempt_.log(1, LogStream::out)).between(0, 100, 10, true);
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(second.size(), 3u);
  for (std::size_t turn = 0; turn < 3; ++turn) {
    EXPECT_LT(first[turn].at, second[turn].at);
    if (turn > 0) {
      EXPECT_LT(second[turn - 1].at, first[turn].at);
    }
  }
}

TEST_F(LogSpoolTest, OfAProgressBarTheQuotedEndHasTheLastState) {
  const Writer out = rank(0);
  Writer err(std::move(errors_.back()));
  err.write_some("what went before\n");
  for (int i = 0; i < 1'000; ++i) {
    const std::string state = "\r" + std::to_string(i) + " of 1000";
    err.write_some(state);
    ASSERT_TRUE(turn_until(
        loop_, [&] { return logs_.sizes().front().stderr_bytes == err.written().size(); }));
  }
  err.write_some("\nboom\n");
  ASSERT_TRUE(turn_until(
      loop_, [&] { return logs_.sizes().front().stderr_bytes == err.written().size(); }));
  EXPECT_EQ(logs_.stderr_tail(0), "what went before\n999 of 1000\nboom\n");
}

}  // namespace
}  // namespace lockstep::runner::testing
