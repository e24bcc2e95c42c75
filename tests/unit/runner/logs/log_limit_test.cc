// The bound on what is kept of ranks' output: beyond it they go on and are read, a line says where
// the log is cut, and one loud rank does not cost the others theirs.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/utf8.h"
#include "common/io/attempt/log_times.h"
#include "runner/logs/log_capture.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

constexpr std::uint64_t kLimit = 1 << 20;
constexpr std::uint64_t kNoticeAtMost = 400;

class LogLimitTest : public ::testing::Test {
 protected:
  LogLimitTest() { EXPECT_TRUE(io::make_directories(attempt_.logs())); }

  // Writes all of it, while the capture reads.
  void write(const io::Fd& pipe, const std::string& text) {
    fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
    std::size_t done = 0;
    EXPECT_TRUE(turn_until(loop_, [&] {
      const ssize_t got = ::write(pipe.get(), text.data() + done, text.size() - done);
      if (got > 0) done += static_cast<std::size_t>(got);
      return done == text.size();
    }));
  }
  std::string text(int rank, LogStream which = LogStream::out) const {
    return *io::read_file(attempt_.log(rank, which));
  }

  TemporaryDirectory root_;
  io::AttemptDir attempt_{root_.path()};
  io::EventLoop loop_;
  LogCapture logs_{loop_, attempt_, gibibytes(1), Bytes{kLimit}};
};

TEST_F(LogLimitTest, AFloodIsCutAtTheLimitAndTheRankGoesOn) {
  auto writers = *logs_.open(0, geteuid());
  const std::string flood(8 * kLimit, 'x');
  write(writers.out, flood);
  writers.out.reset();
  writers.err.reset();
  ASSERT_TRUE(logs_.drain());
  const std::string kept = text(0);
  EXPECT_GE(kept.size() + logs_.times().count, kLimit / 2);
  EXPECT_LE(kept.size() + logs_.times().count, kLimit + kNoticeAtMost);
  EXPECT_EQ(logs_.sizes()[0].stdout_bytes, kept.size());
  const auto notice = kept.find(
      "\n[lockstep: this log is cut here: the limit of the job's logs on "
      "a node, 1.0 MiB, is reached, and what rank 0 writes to stdout "
      "from here on is not kept (--log-limit)]\n");
  ASSERT_NE(notice, kept.npos);
  EXPECT_EQ(kept.substr(0, notice), flood.substr(0, notice));
  EXPECT_EQ(logs_.dropped().bytes, flood.size() - notice);
  EXPECT_EQ(logs_.dropped().ranks, 1);
  EXPECT_EQ(logs_.dropped().first_rank, 0);
}

TEST_F(LogLimitTest, IsCutBetweenCharacters) {
  auto writers = *logs_.open(0, geteuid());
  std::string flood = "x";
  while (flood.size() < 4 * kLimit) flood += "\xe2\x82\xac";
  write(writers.out, flood);
  write(writers.err, flood);
  writers.out.reset();
  writers.err.reset();
  ASSERT_TRUE(logs_.drain());
  for (const LogStream which : {LogStream::out, LogStream::err}) {
    const std::string kept = text(0, which);
    EXPECT_EQ(kept.find("\n[lockstep") % 3, 1u);
    EXPECT_EQ(whole_characters(kept), kept.size());
  }
  EXPECT_EQ(logs_.stderr_tail(0).size(), kStderrTailBytes / 3 * 3);
  EXPECT_EQ(logs_.stderr_tail(0), flood.substr(flood.size() - kStderrTailBytes / 3 * 3));
  EXPECT_EQ(logs_.dropped().bytes, 2 * flood.size() - text(0).find("\n[lockstep") -
                                       text(0, LogStream::err).find("\n[lockstep"));
}

TEST_F(LogLimitTest, ALogThatJustFitsIsNotCut) {
  constexpr std::uint64_t kWithoutTimes = kLimit / 2 - (8 << 10);
  auto writers = *logs_.open(0, geteuid());
  write(writers.out, std::string(kWithoutTimes, 'x'));
  writers.out.reset();
  ASSERT_TRUE(logs_.drain());
  EXPECT_EQ(text(0), std::string(kWithoutTimes, 'x'));
  EXPECT_EQ(logs_.dropped().ranks, 0);
}

TEST_F(LogLimitTest, ALoudRankLeavesTheOthersTheirShare) {
  auto loud = *logs_.open(0, geteuid());
  auto quiet = *logs_.open(1, geteuid());
  write(loud.out, std::string(4 * kLimit, 'x'));
  write(quiet.out, "the last words\n");
  EXPECT_TRUE(turn_until(loop_, [&] { return text(1) == "the last words\n"; }));
}

// A file of times grew without a bound beside lines of a few bytes.
TEST_F(LogLimitTest, TimesCountAsTheOutputDoes) {
  auto writers = *logs_.open(0, geteuid());
  write(writers.out, "x\n");
  ASSERT_TRUE(turn_until(loop_, [&] { return text(0) == "x\n"; }));
  const std::string path = io::LogTimes(attempt_.log(0, LogStream::out)).path();
  EXPECT_EQ(logs_.times(), Bytes{io::LogTimes::kEntryBytes});
  EXPECT_EQ(io::read_file(path)->size(), io::LogTimes::kEntryBytes);
  write(writers.out, std::string(kLimit, 'x'));
  const std::uint64_t kept = text(0).find("[lockstep:");
  EXPECT_LE(kept + logs_.times().count, kLimit / 2 + 2 * io::LogTimes::kEntryBytes);
}

TEST_F(LogLimitTest, AFailureReportQuotesTheEndThatWasNotKept) {
  auto writers = *logs_.open(0, geteuid());
  write(writers.err, std::string(4 * kLimit, 'x') + "\nValueError: at the very end\n");
  writers.err.reset();
  writers.out.reset();
  ASSERT_TRUE(logs_.drain());
  const std::string tail = logs_.stderr_tail(0);
  EXPECT_EQ(tail.size(), kStderrTailBytes);
  EXPECT_TRUE(tail.ends_with("ValueError: at the very end\n"));
}

// Of an attempt that fills the disk the end must not wait for space that only its end gives back.
TEST_F(LogLimitTest, WhatAFullDiskRefusesIsDroppedOnceItIsGivenUp) {
  signal(SIGXFSZ, SIG_IGN);
  auto writers = *logs_.open(0, geteuid());
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  ASSERT_TRUE(io::write_all(writers.out.get(), std::string(1500, 'x')));
  EXPECT_TRUE(turn_until(loop_, [&] { return !logs_.blocked_reason().empty(); }));
  writers.out.reset();
  EXPECT_FALSE(logs_.drain());
  logs_.give_up_on_disk();
  logs_.retry(Instant{1'000'000'000});
  EXPECT_TRUE(logs_.drain());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(logs_.blocked_reason(), "");
  EXPECT_EQ(text(0), std::string(1000, 'x'));
  EXPECT_EQ(logs_.dropped().bytes, 500U);
}

}  // namespace
}  // namespace lockstep::runner::testing
