// When the compactor collects blobs while the disk is low.

#include "launcher/daemon/stores/store_compactor.h"

#include <gmock/gmock.h>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

class StoreCompactorTest : public testing::Test {
 protected:
  StoreCompactorTest() : logs_(home_.logs()) {
    auto durable = DurableCore::recover(loop_, home_.journal(), {});
    EXPECT_TRUE(durable) << (durable ? "" : durable.error().message);
    durable_ = *std::move(durable);
    auto blobs = snapshot::BlobStore::open(home_.blobs());
    EXPECT_TRUE(blobs) << (blobs ? "" : blobs.error().message);
    blobs_ = *std::move(blobs);
    DiskMonitor::Settings settings{home_.path(), home_.reserve(), mebibytes(100), mebibytes(1)};
    settings.measure = [this](const std::string&) {
      return Result<io::DiskSpace>(io::DiskSpace{free_, gibibytes(10)});
    };
    space_.emplace(std::move(settings));
    compactor_.emplace(StoreCompactor::Parts{loop_, *durable_, *blobs_, logs_, home_,
                                             StoreCompactor::Settings{}, *space_});
    disk_has(gibibytes(5));
  }
  // A turn of the daemon with so much free, and the end of what it began.
  void disk_has(Bytes free) {
    free_ = free;
    at_ = at_ + kLookEvery;
    space_->look(at_);
    do {
      compactor_->turn_end();
      loop_.turn(milliseconds(10));
    } while (io::SystemClock().now() < give_up_ && is_busy());
    ASSERT_FALSE(is_busy());
  }
  bool is_busy() {
    return compactor_->wait() == Duration::max() || compactor_->wait().count() == 0;
  }

  test::TempDir dir_;
  const LauncherHome home_{dir_.path()};
  io::EventLoop loop_;
  std::unique_ptr<DurableCore> durable_;
  std::unique_ptr<snapshot::BlobStore> blobs_;
  LogStore logs_;
  Bytes free_;
  std::optional<DiskMonitor> space_;
  std::optional<StoreCompactor> compactor_;
  Instant at_{1'000};
  const Instant give_up_ = io::SystemClock().now() + seconds(60);
};

// What users were told when it got low the last time was true, and it is now.
TEST_F(StoreCompactorTest, EachTimeTheDiskGetsLowItCollectsWithinAMinuteAgain) {
  disk_has(mebibytes(50));  // nothing can go: it takes its time from here on
  disk_has(gibibytes(5));
  EXPECT_GT(compactor_->wait(), minutes(30)) << "as its lease says";
  disk_has(mebibytes(50));
  EXPECT_LE(compactor_->wait(), kLowPause);
}

TEST_F(StoreCompactorTest, WhatRunningJobsReplacedGoesAtOnceWhenTheDiskIsLow) {
  const TreesReplaced replaced{{JobId("train"), 1}, {sha256("old version")}, mebibytes(10)};
  disk_has(mebibytes(50));  // nothing can go: it takes its time from here on
  disk_has(gibibytes(5));
  compactor_->perform(replaced);
  EXPECT_GT(compactor_->wait(), minutes(30)) << "it takes little of what is free";
  disk_has(mebibytes(50));
  EXPECT_LE(compactor_->wait(), kReplacedPause);
}

TEST_F(StoreCompactorTest, WhatRunningJobsReplacedGoesBeforeTheDiskGetsLow) {
  EXPECT_GT(compactor_->wait(), minutes(30));
  compactor_->perform(TreesReplaced{{JobId("train"), 1}, {sha256("old version")}, gibibytes(2)});
  EXPECT_LE(compactor_->wait(), seconds(10)) << "more than a quarter of what is free";
}

}  // namespace
}  // namespace lockstep::launcher
