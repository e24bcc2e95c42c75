#include "common/io/file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "common/io/files/disk_space.h"
#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

TEST(FileSystemTest, WritesAtomicallyWithModeAndLeavesNothingBeside) {
  const TempDir dir;
  const std::string path = dir / "file";
  ASSERT_TRUE(write_file_atomically(path, "one", 0600));
  ASSERT_TRUE(write_file_atomically(path, std::string("two\0three", 9), 0640, false));
  EXPECT_EQ(read_file(path).value(), std::string("two\0three", 9));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(list_directory(dir.path()).value(), std::vector<std::string>{"file"});
}

TEST(FileSystemTest, AReaderSeesTheOldOrTheNewFileNeverAMixture) {
  const TempDir dir;
  const std::string path = dir / "file";
  const std::string a(100'000, 'a'), b(150'000, 'b');
  ASSERT_TRUE(write_file_atomically(path, a, 0644, false));
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(write_file_atomically(path, i % 2 ? a : b, 0644, false));
    }
  });
  for (int i = 0; i < 200; ++i) {
    const auto seen = read_file(path);
    EXPECT_TRUE(seen && (*seen == a || *seen == b));
  }
  writer.join();
}

TEST(FileSystemTest, AFailedWriteNamesThePathAndLeavesNothing) {
  const TempDir dir;
  const auto status = write_file_atomically(dir / "missing/file", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_NE(status.error().message.find("missing/file"), std::string::npos);
}

TEST(FileSystemTest, ReadRefusesMoreThanItsLimit) {
  const TempDir dir;
  ASSERT_TRUE(write_file_atomically(dir / "file", std::string(1025, 'x')));
  EXPECT_EQ(read_file(dir / "file", kibibytes(1)).error().code, ErrorCode::resource_exhausted);
  EXPECT_FALSE(read_file("/proc/self/status", Bytes{10}));  // its size is unknown beforehand
  EXPECT_EQ(read_file(dir / "none").error().code, ErrorCode::not_found);
}

TEST(FileSystemTest, MakesDirectoriesAndRefusesAFileInTheWay) {
  const TempDir dir;
  EXPECT_TRUE(make_directories(dir / "a/b/c", 0700));
  EXPECT_TRUE(make_directories(dir / "a/b/c"));
  ASSERT_TRUE(write_file_atomically(dir / "a/file", "x"));
  EXPECT_FALSE(make_directories(dir / "a/file"));
  EXPECT_FALSE(make_directories(dir / "a/file/d"));
}

TEST(FileSystemTest, RemovesATreeButNotWhatItsLinksPointTo) {
  const TempDir dir;
  ASSERT_TRUE(make_directories(dir / "kept"));
  ASSERT_TRUE(write_file_atomically(dir / "kept/file", "x"));
  ASSERT_TRUE(make_directories(dir / "tree/deep/er"));
  ASSERT_TRUE(write_file_atomically(dir / "tree/deep/file", "x"));
  ASSERT_EQ(::symlink((dir / "kept").c_str(), (dir / "tree/link").c_str()), 0);
  ASSERT_EQ(::chmod((dir / "tree/deep").c_str(), 0), 0);  // as a program may leave it
  EXPECT_TRUE(remove_tree(dir / "tree"));
  EXPECT_FALSE(exists(dir / "tree"));
  EXPECT_TRUE(exists(dir / "kept/file"));
  EXPECT_TRUE(remove_tree(dir / "tree")) << "a missing path is success";
}

TEST(FileSystemTest, RemovesALinkItself) {
  const TempDir dir;
  ASSERT_TRUE(make_directories(dir / "kept"));
  ASSERT_EQ(::symlink((dir / "kept").c_str(), (dir / "link").c_str()), 0);
  EXPECT_TRUE(remove_tree(dir / "link"));
  EXPECT_TRUE(exists(dir / "kept"));
}

TEST(FileSystemTest, RemoveTreeStopsAtAMountPoint) {
  const TempDir dir;
  ASSERT_TRUE(make_directories(dir / "data"));
  ASSERT_TRUE(write_file_atomically(dir / "data/precious", "x"));
  ASSERT_TRUE(make_directories(dir / "tree/mounted"));
  // A bind mount of the same file system: its device number is no different.
  if (::mount((dir / "data").c_str(), (dir / "tree/mounted").c_str(), nullptr, MS_BIND, nullptr)) {
    GTEST_SKIP() << "this user may not mount";
  }
  const auto status = remove_tree(dir / "tree");
  ::umount((dir / "tree/mounted").c_str());
  EXPECT_FALSE(status);
  EXPECT_TRUE(exists(dir / "data/precious"));
}

TEST(FileSystemTest, ALockIsHeldOnceAndFreedWithItsObject) {
  const TempDir dir;
  {
    const auto held = FileLock::try_acquire(dir / "lock");
    ASSERT_TRUE(held && held->has_value());
    const auto second = FileLock::try_acquire(dir / "lock");
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->has_value());
  }
  const auto again = FileLock::try_acquire(dir / "lock");
  EXPECT_TRUE(again && again->has_value());
}

TEST(FileSystemTest, ABlockedLockComesWhenTheHolderLeaves) {
  const TempDir dir;
  auto held = FileLock::try_acquire(dir / "lock");
  ASSERT_TRUE(held && held->has_value());
  bool acquired = false;
  std::thread waiter([&] { acquired = FileLock::acquire(dir / "lock").has_value(); });
  held->reset();
  waiter.join();
  EXPECT_TRUE(acquired);
}

TEST(DiskSpaceTest, IsMeasuredWithoutRootsReserveWhoeverAsks) {
  struct statvfs info {};
  info.f_frsize = 4096;
  info.f_blocks = 1000;
  info.f_bfree = 150;
  info.f_bavail = 100;
  EXPECT_EQ(space_of(info).free.count, 100u * 4096);
  EXPECT_EQ(space_of(info).total.count, 1000u * 4096);
  EXPECT_EQ(space_of(info).used.count, 850u * 4096);
  EXPECT_GT(disk_space("/tmp").value().free.count, 0u);
  EXPECT_FALSE(disk_space("/tmp/lockstep-none-such"));
}

std::string used_as_df_has_it() {
  const std::unique_ptr<FILE, int (*)(FILE*)> df(
      ::popen("df --block-size=1 --output=used /tmp | tail -n 1", "r"), ::pclose);
  char text[64] = {};
  return df != nullptr && std::fgets(text, sizeof text, df.get()) != nullptr
             ? std::to_string(std::strtoull(text, nullptr, 10))
             : "";
}

// Others write there meanwhile: what both say between two looks at df that agree.
TEST(DiskSpaceTest, UsedIsWhatDfPrints) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    const std::string before = used_as_df_has_it();
    ASSERT_NE(before, "");
    const auto space = disk_space("/tmp");
    ASSERT_TRUE(space);
    if (used_as_df_has_it() != before) continue;
    EXPECT_EQ(std::to_string(space->used.count), before);
    return;
  }
  FAIL() << "/tmp was never left alone for the time of two looks";
}

}  // namespace
}  // namespace lockstep::io
