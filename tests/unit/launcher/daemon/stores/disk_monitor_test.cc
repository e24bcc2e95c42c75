// When the launcher takes no new work for lack of space, when it gives its reserve back, and that
// it goes on by itself.

#include "launcher/daemon/stores/disk_monitor.h"

#include <gmock/gmock.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using Level = DiskMonitor::Level;

class DiskMonitorTest : public testing::Test {
 protected:
  DiskMonitor monitor(Bytes low = mebibytes(100), Bytes reserve = mebibytes(1)) {
    DiskMonitor::Settings settings{dir_.path(), reserve_, low, reserve};
    settings.measure = [this](const std::string&) { return Result<io::DiskSpace>(space_); };
    return DiskMonitor(std::move(settings));
  }
  void look(DiskMonitor& monitor, Bytes free) {
    space_.free = free;
    now_ = now_ + kLookEvery;
    monitor.look(now_);
  }

  test::TempDir dir_;
  std::string reserve_ = dir_.path() + "/reserve";
  io::DiskSpace space_{{}, gibibytes(10)};
  Instant now_{1'000};
};

TEST_F(DiskMonitorTest, NewWorkIsRefusedBelowTheLimitAndTakenAgainAbove) {
  auto monitor = this->monitor();
  look(monitor, gibibytes(5));
  EXPECT_EQ(monitor.level(), Level::well);
  EXPECT_EQ(monitor.refusal(), "");
  EXPECT_TRUE(io::exists(reserve_));
  look(monitor, mebibytes(50));
  EXPECT_EQ(monitor.level(), Level::low);
  EXPECT_THAT(monitor.refusal(),
              HasSubstr(dir_.path() + " has 50.0 MiB free, and below 100.0 MiB"));
  EXPECT_THAT(monitor.refusal(), HasSubstr("--low-space"));
  EXPECT_EQ(monitor.standstill(), "") << "what runs goes on";
  EXPECT_TRUE(io::exists(reserve_));
  look(monitor, mebibytes(200));
  EXPECT_EQ(monitor.level(), Level::well);
}

TEST_F(DiskMonitorTest, FlagsThatAskForMoreThanThereIsInAllAreRefused) {
  EXPECT_TRUE(monitor().expect_possible());
  const Status reserve = monitor(mebibytes(100), gibibytes(9)).expect_possible();
  ASSERT_FALSE(reserve);
  EXPECT_THAT(reserve.error().message, HasSubstr("--reserve 9.0 GiB: the file system of"));
  EXPECT_FALSE(monitor(gibibytes(9)).expect_possible());
}

TEST_F(DiskMonitorTest, TheReserveIsGivenBackOnAFullDiskAndMadeAgain) {
  auto monitor = this->monitor();
  look(monitor, gibibytes(5));
  look(monitor, kibibytes(100));
  EXPECT_EQ(monitor.level(), Level::full);
  EXPECT_FALSE(io::exists(reserve_));
  EXPECT_THAT(monitor.standstill(), HasSubstr("logs and outputs wait on their nodes"));
  // What was given back is not taken for space.
  look(monitor, kibibytes(1'100));
  EXPECT_EQ(monitor.level(), Level::full);
  EXPECT_FALSE(io::exists(reserve_));
  look(monitor, mebibytes(10));
  EXPECT_EQ(monitor.level(), Level::low);
  EXPECT_TRUE(io::exists(reserve_));
  look(monitor, mebibytes(500));
  EXPECT_EQ(monitor.level(), Level::well);
}

TEST_F(DiskMonitorTest, AFailedWriteGivesItBackWhateverIsFree) {
  auto monitor = this->monitor();
  look(monitor, gibibytes(5));
  monitor.give_all();
  EXPECT_FALSE(io::exists(reserve_));
  EXPECT_EQ(monitor.level(), Level::full);
}

TEST_F(DiskMonitorTest, AReserveOfAnEarlierProcessIsKnown) {
  ASSERT_TRUE(io::make_reserve(reserve_, mebibytes(1)));
  auto monitor = this->monitor();
  look(monitor, mebibytes(1));
  EXPECT_EQ(monitor.level(), Level::low) << "and not full: it stands ready";
  EXPECT_TRUE(io::exists(reserve_));
}

TEST_F(DiskMonitorTest, TheLimitFollowsTheDisk) {
  EXPECT_EQ(io::default_low_space(gibibytes(500)), gibibytes(10));
  EXPECT_EQ(io::default_low_space(gibibytes(20)), gibibytes(1));
  EXPECT_EQ(io::default_low_space(mebibytes(100)), mebibytes(10));
}

TEST_F(DiskMonitorTest, AReserveTakesItsBlocksAndBecomesAFileWithoutANewOne) {
  ASSERT_TRUE(io::make_reserve(reserve_, kibibytes(64)));
  const std::string path = dir_.path() + "/report";
  ASSERT_TRUE(io::write_into_reserve(reserve_, path, "all is said"));
  EXPECT_EQ(io::read_file(path).value_or(""), "all is said");
  EXPECT_FALSE(io::exists(reserve_));
  ASSERT_TRUE(io::make_reserve(reserve_, kibibytes(1)));
  const auto large = io::write_into_reserve(reserve_, path, std::string(2'000, 'x'));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(io::read_file(path).value_or(""), "all is said");
}

}  // namespace
}  // namespace lockstep::launcher
