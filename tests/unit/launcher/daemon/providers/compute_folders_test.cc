#include "launcher/daemon/providers/compute_folders.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <set>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using testing::ElementsAre;

class ComputeFoldersTest : public testing::Test {
 protected:
  ComputeFoldersTest() { EXPECT_TRUE(io::make_directories(home.compute(), 0700)); }
  void make_state(const std::string& target) {
    EXPECT_TRUE(io::make_directories(home.compute_state(target) + "/bundle/bin", 0700));
    EXPECT_TRUE(io::write_file_atomically(home.compute_state(target) + "/bundle/bin/a", "x"));
  }
  void make_log(const std::string& target, int second = 0) {
    make_file(home.compute_log(target), second);
  }
  static void make_file(const std::string& path, int second) {
    EXPECT_TRUE(io::write_file_atomically(path, "line\n"));
    const timespec times[2] = {{second, 0}, {second, 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::vector<std::string> left() const { return *io::list_directory(home.compute()); }
  template <typename Work>
  void run(Work work) {  // and wait until it is removed
    ComputeFolders folders(home, [this](const std::string& name) { return targets.count(name); });
    work(folders);
  }

  test::TempDir dir;
  LauncherHome home{dir.path() + "/home"};
  std::set<std::string> targets;
};

TEST_F(ComputeFoldersTest, WhatBelongsToNoTargetIsRemovedAtTheStart) {
  targets = {"lab"};
  for (const char* name : {"lab", "gone", ".check-3", ".gone-1"}) make_state(name);
  make_log("lab");
  run([](ComputeFolders& folders) { folders.clean(); });
  EXPECT_THAT(left(), ElementsAre("lab", "lab.log"));
}

TEST_F(ComputeFoldersTest, ADeletedTargetLeavesItsLog) {
  for (const char* name : {"lab", "other", ".check-3"}) make_state(name);
  make_log("lab");
  run([](ComputeFolders& folders) { folders.forget("lab"); });
  EXPECT_THAT(left(), ElementsAre(".check-3", "lab.log", "other"));
}

TEST_F(ComputeFoldersTest, ATargetThatWasMadeAgainKeepsItsState) {
  targets = {"lab"};
  make_state("lab");
  run([](ComputeFolders& folders) { folders.forget("lab"); });
  EXPECT_THAT(left(), ElementsAre("lab"));
}

TEST_F(ComputeFoldersTest, TheNewestLogsOfDeletedTargetsStay) {
  targets = {"lab"};
  make_log("lab");
  const int count = static_cast<int>(ComputeFolders::kKeptLogs) + 3;
  for (int i = 0; i < count; ++i) make_log("gone-" + std::to_string(100 + i), i);
  make_file(home.old_compute_log("gone-100"), count);
  run([](ComputeFolders& folders) { folders.forget("another"); });
  const auto names = left();
  EXPECT_EQ(names.size(), ComputeFolders::kKeptLogs + 2);
  EXPECT_TRUE(io::exists(home.compute_log("lab")));
  EXPECT_TRUE(io::exists(home.compute_log("gone-100"))) << "its newest file counts";
  EXPECT_FALSE(io::exists(home.compute_log("gone-101")));
}

}  // namespace
}  // namespace lockstep::launcher
