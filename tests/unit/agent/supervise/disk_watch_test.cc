// Who is ended for what its folders hold of the node's disk.

#include "agent/supervise/disk_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/domain/why/all/convert.h"
#include "common/domain/why/ranks/parts.h"
#include "common/io/process.h"
#include "tests/unit/agent/helpers.h"

namespace lockstep::agent {
namespace {

const AttemptId kFirst{JobId("first"), 1}, kSecond{JobId("second"), 1};
constexpr Bytes kLow = gibibytes(4);

TEST(WhoMustEnd, OneOverItsLimitWhateverIsFree) {
  const io::DiskSpace space{gibibytes(90), gibibytes(100)};
  EXPECT_FALSE(who_must_end({{kFirst, gibibytes(2), gibibytes(2)}, {kSecond, gibibytes(9), {}}},
                            space, kLow));
  const auto found = who_must_end(
      {{kSecond, gibibytes(9), {}}, {kFirst, gibibytes(3), gibibytes(2)}}, space, kLow);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->attempt, kFirst);
  EXPECT_EQ(found->why, Why(DiskLimitReached{gibibytes(3), {}, gibibytes(2)}));
}

TEST(WhoMustEnd, OfAFullDiskTheOneThatHoldsMost) {
  const std::vector<AttemptDisk> both = {{kFirst, gibibytes(1), {}}, {kSecond, gibibytes(60), {}}};
  EXPECT_FALSE(who_must_end(both, {gibibytes(2), gibibytes(100)}, kLow)) << "low, but not full";
  const auto found = who_must_end(both, {mebibytes(10), gibibytes(100)}, kLow);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->attempt, kSecond);
  EXPECT_EQ(found->why, Why(DiskIsFull{mebibytes(10), gibibytes(100), gibibytes(60), {}}));
}

TEST(WhoMustEnd, NobodyWhereTheEndWouldNotHelp) {
  EXPECT_FALSE(who_must_end({{kFirst, gibibytes(3), {}}}, {mebibytes(10), gibibytes(100)}, kLow))
      << "something else fills it";
  EXPECT_FALSE(who_must_end({}, {mebibytes(10), gibibytes(100)}, kLow));
}

TEST(WhoMustEnd, RemovedFilesThatAreStillOpenAreSaid) {
  const io::DiskSpace space{mebibytes(10), gibibytes(100)};
  const auto over = who_must_end({{kFirst, gibibytes(3), gibibytes(2), gibibytes(2)}}, space, kLow);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->why, Why(DiskLimitReached{gibibytes(3), gibibytes(2), gibibytes(2)}));
  const auto most = who_must_end({{kFirst, gibibytes(60), {}, gibibytes(59)}}, space, kLow);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->why,
            Why(DiskIsFull{mebibytes(10), gibibytes(100), gibibytes(60), gibibytes(59)}));
}

class DiskWatchTest : public testing::Test {
 protected:
  DiskWatchTest() {
    for (const AttemptId& attempt : {kFirst, kSecond})
      EXPECT_TRUE(io::make_directories(home_.attempt(attempt).logs()));
  }
  void turn() {
    loop_.turn(milliseconds(2));
    watch_.tick(clock_.now());
  }
  const TempDir dir_;
  const AgentHome home_{dir_.path()};
  io::EventLoop loop_;
  io::BootTimeClock clock_;
  Workers workers_{1};
  std::vector<MustEnd> ended_;
  std::optional<AttemptId> stopped_;
  DiskWatch watch_{loop_,
                   clock_,
                   workers_,
                   home_,
                   kibibytes(64),
                   {},
                   {[this](const AttemptId& attempt) { return attempt != stopped_; },
                    [this](const MustEnd& found) { ended_.push_back(found); }}};
};

TEST_F(DiskWatchTest, AnAttemptThatGrowsBeyondItsLimitIsEnded) {
  EXPECT_EQ(watch_.next_deadline(), Instant::never());
  watch_.watch(kFirst, {{}, {}, mebibytes(16)});
  watch_.watch(kSecond, {});
  put(home_.attempt(kFirst).logs() + "/log", std::string(20 << 20, 'x'));
  put(home_.attempt(kSecond).path() + "/file", std::string(20 << 20, 'x'));
  EXPECT_FALSE(turn_until([&] { turn(); }, [&] { return !ended_.empty(); }, milliseconds(300)));
  put(home_.attempt(kFirst).code() + "/data", std::string(20 << 20, 'x'));
  EXPECT_TRUE(turn_until([&] { turn(); }, [&] { return !ended_.empty(); }));
  EXPECT_EQ(ended_[0].attempt, kFirst);
  EXPECT_FALSE(turn_until([&] { turn(); }, [&] { return ended_.size() > 1; }, milliseconds(300)))
      << "once is enough";
  const auto* reached = ended_[0].why.as<DiskLimitReached>();
  ASSERT_NE(reached, nullptr) << log_text(ended_[0].why);
  EXPECT_EQ(reached->limit, mebibytes(16));
}

TEST_F(DiskWatchTest, WhatIsRemovedButStillOpenCounts) {
  watch_.watch(kFirst, {{}, {}, mebibytes(16)});
  const std::string name = home_.attempt(kFirst).code() + "/data";
  put(name, std::string(20 << 20, 'x'));
  const io::Fd open(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(open);
  ASSERT_EQ(::unlink(name.c_str()), 0);
  EXPECT_FALSE(turn_until([&] { turn(); }, [&] { return !ended_.empty(); }, milliseconds(300)))
      << "no process of the attempt has it open";
  put(home_.attempt(kFirst).runner_pid(), io::to_text(*io::identify(::getpid())));
  EXPECT_TRUE(turn_until([&] { turn(); }, [&] { return !ended_.empty(); }));
  EXPECT_EQ(ended_[0].attempt, kFirst);
  const auto* reached = ended_[0].why.as<DiskLimitReached>();
  ASSERT_NE(reached, nullptr) << log_text(ended_[0].why);
  EXPECT_GE(reached->removed, mebibytes(1));
}

TEST_F(DiskWatchTest, TheFirstProcessOfAContainerCountsToo) {
  watch_.watch(kFirst, {{}, {}, mebibytes(16)});
  const std::string name = home_.attempt(kFirst).code() + "/data";
  put(name, std::string(20 << 20, 'x'));
  const io::Fd open(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(open);
  ASSERT_EQ(::unlink(name.c_str()), 0);
  put(home_.attempt(kFirst).container_pid(), io::to_text(*io::identify(::getpid())));
  EXPECT_TRUE(turn_until([&] { turn(); }, [&] { return !ended_.empty(); }));
}

TEST_F(DiskWatchTest, OneThatDoesNotRunIsLeftAlone) {
  stopped_ = kFirst;
  watch_.watch(kFirst, {{}, {}, mebibytes(16)});
  put(home_.attempt(kFirst).code() + "/data", std::string(20 << 20, 'x'));
  EXPECT_FALSE(turn_until([&] { turn(); }, [&] { return !ended_.empty(); }, milliseconds(300)));
  watch_.forget(kFirst);
  EXPECT_EQ(watch_.next_deadline(), Instant::never());
}

}  // namespace
}  // namespace lockstep::agent
