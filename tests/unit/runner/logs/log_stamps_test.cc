#include "runner/logs/log_stamps.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/io/attempt/attempt_dir.h"
#include "common/io/file_system.h"
#include "runner/logs/clock_note.h"
#include "tests/unit/runner/process_probe.h"

namespace lockstep::runner::testing {
namespace {

class LogStampsTest : public ::testing::Test {
 protected:
  // A line of `bytes` every `step`, for `lines` lines, while other streams write in between.
  void write(int lines, std::uint64_t bytes, Duration step) {
    for (int line = 0; line < lines; ++line) {
      stamps_.read_at(offset_, now_, false);
      offset_ += bytes;
      now_ = now_ + step;
    }
  }
  std::uint64_t on_disk() const {
    struct stat info {};
    return stat((log_ + ".times").c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size)
                                                       : 0;
  }
  std::vector<LogTime> entries() const {
    return io::LogTimes(log_).between(0, offset_, 100'000, true);
  }

  TemporaryDirectory root_;
  const std::string log_ = root_.path() + "/rank_0.stdout";
  LogStamps stamps_{log_};
  std::uint64_t offset_ = 0;
  Instant now_{1'000'000'000'000};
};

TEST_F(LogStampsTest, LinesOfStreamsThatTakeTurnsHaveATimeEach) {
  write(200, 40, milliseconds(1));
  EXPECT_EQ(entries().size(), 200U);
  EXPECT_EQ(stamps_.size(), Bytes{200 * io::LogTimes::kEntryBytes});
  EXPECT_EQ(on_disk(), stamps_.size().count);
}

TEST_F(LogStampsTest, ALoneStreamHasTenMillisecondsBetweenTimes) {
  EXPECT_EQ(stamps_.read_at(0, now_, false), Bytes{16});
  EXPECT_EQ(stamps_.read_at(9, now_ + milliseconds(9), true), Bytes{0});
  EXPECT_EQ(stamps_.read_at(19, now_ + milliseconds(10), true), Bytes{16});
  EXPECT_EQ(stamps_.read_at(29, now_ + milliseconds(11), false), Bytes{16}) << "a turn";
}

// It was 16 KB a second for each stream, whatever the stream wrote.
TEST_F(LogStampsTest, OfTinyLinesForLongTheTimesStayAShareOfTheLog) {
  write(100'000, 64, milliseconds(1));
  EXPECT_LE(stamps_.size().count, (4U << 10) + offset_ / 8 + 1000 * io::LogTimes::kEntryBytes)
      << "the share, and one in a tenth of a second";
  EXPECT_GE(stamps_.size().count, offset_ / 8);
  EXPECT_EQ(on_disk(), stamps_.size().count);
}

TEST_F(LogStampsTest, NoByteIsFurtherFromItsTimeThanReadersCount) {
  write(20'000, 2, milliseconds(1));
  const std::vector<LogTime> all = entries();
  ASSERT_GE(all.size(), 2U);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i].at - all[i - 1].at, kLogTimeStep);
  EXPECT_LE(stamps_.size().count, (4U << 10) + offset_ / 8 + 200 * io::LogTimes::kEntryBytes);
}

class ClockNoteTest : public ::testing::Test {
 protected:
  TemporaryDirectory root_;
  const io::AttemptDir directory_{root_.path()};
  ClockNote note_{directory_.clock_set()};
};

TEST_F(ClockNoteTest, SaysByHowMuchTheClockWasSet) {
  note_.measured(milliseconds(1));
  EXPECT_FALSE(io::exists(directory_.clock_set())) << "between two readings";
  note_.measured(-seconds(1));
  EXPECT_EQ(io::read_clock_set(directory_), -seconds(1));
  note_.measured(-seconds(1) + milliseconds(3));
  EXPECT_EQ(io::read_clock_set(directory_), -seconds(1));
  note_.measured(milliseconds(2));
  EXPECT_EQ(io::read_clock_set(directory_), milliseconds(2)) << "it was set right again";
}

}  // namespace
}  // namespace lockstep::runner::testing
