// When the launcher takes no new work for lack of space, when it gives its reserve back, and that
// it goes on by itself.

#include "launcher/daemon/disk_monitor.h"

#include <gmock/gmock.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using Level = DiskMonitor::Level;

class DiskMonitorTest : public testing::Test {
 protected:
  DiskMonitor keeper(Bytes low = mebibytes(100), Bytes reserve = mebibytes(1)) {
    DiskMonitor::Settings settings{dir_.path(), reserve_, low, reserve};
    settings.measure = [this](const std::string&) { return Result<io::DiskSpace>(space_); };
    return DiskMonitor(std::move(settings));
  }
  void look(DiskMonitor& keeper, Bytes free) {
    space_.free = free;
    now_ = now_ + kLookEvery;
    keeper.look(now_);
  }

  test::TempDir dir_;
  std::string reserve_ = dir_.path() + "/reserve";
  io::DiskSpace space_{{}, gibibytes(10)};
  Instant now_{1'000};
};

TEST_F(DiskMonitorTest, NewWorkIsRefusedBelowTheLimitAndTakenAgainAbove) {
  auto keeper = this->keeper();
  look(keeper, gibibytes(5));
  EXPECT_EQ(keeper.level(), Level::well);
  EXPECT_EQ(keeper.refusal(), "");
  EXPECT_TRUE(io::exists(reserve_));
  look(keeper, mebibytes(50));
  EXPECT_EQ(keeper.level(), Level::low);
  EXPECT_THAT(keeper.refusal(), HasSubstr(dir_.path() + " has 50.0 MiB free, and below 100.0 MiB"));
  EXPECT_THAT(keeper.refusal(), HasSubstr("--low-space"));
  EXPECT_EQ(keeper.standstill(), "") << "what runs goes on";
  EXPECT_TRUE(io::exists(reserve_));
  look(keeper, mebibytes(200));
  EXPECT_EQ(keeper.level(), Level::well);
}

TEST_F(DiskMonitorTest, FlagsThatAskForMoreThanThereIsInAllAreRefused) {
  EXPECT_TRUE(keeper().expect_possible());
  const Status reserve = keeper(mebibytes(100), gibibytes(9)).expect_possible();
  ASSERT_FALSE(reserve);
  EXPECT_THAT(reserve.error().message, HasSubstr("--reserve 9.0 GiB: the file system of"));
  EXPECT_FALSE(keeper(gibibytes(9)).expect_possible());
}

TEST_F(DiskMonitorTest, TheReserveIsGivenBackOnAFullDiskAndMadeAgain) {
  auto keeper = this->keeper();
  look(keeper, gibibytes(5));
  look(keeper, kibibytes(100));
  EXPECT_EQ(keeper.level(), Level::full);
  EXPECT_FALSE(io::exists(reserve_));
  EXPECT_THAT(keeper.standstill(), HasSubstr("logs and outputs wait on their nodes"));
  // What was given back is not taken for space.
  look(keeper, kibibytes(1'100));
  EXPECT_EQ(keeper.level(), Level::full);
  EXPECT_FALSE(io::exists(reserve_));
  look(keeper, mebibytes(10));
  EXPECT_EQ(keeper.level(), Level::low);
  EXPECT_TRUE(io::exists(reserve_));
  look(keeper, mebibytes(500));
  EXPECT_EQ(keeper.level(), Level::well);
}

TEST_F(DiskMonitorTest, AFailedWriteGivesItBackWhateverIsFree) {
  auto keeper = this->keeper();
  look(keeper, gibibytes(5));
  keeper.give_all();
  EXPECT_FALSE(io::exists(reserve_));
  EXPECT_EQ(keeper.level(), Level::full);
}

TEST_F(DiskMonitorTest, AReserveOfAnEarlierProcessIsKnown) {
  ASSERT_TRUE(io::make_reserve(reserve_, mebibytes(1)));
  auto keeper = this->keeper();
  look(keeper, mebibytes(1));
  EXPECT_EQ(keeper.level(), Level::low) << "and not full: it stands ready";
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
