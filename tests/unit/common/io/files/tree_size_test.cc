#include "common/io/files/tree_size.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

using test::TempDir;

void put(const std::string& path, std::size_t bytes) {
  ASSERT_TRUE(make_directories(path.substr(0, path.rfind('/'))));
  ASSERT_TRUE(write_file_atomically(path, std::string(bytes, 'x'), 0644, false));
}

TEST(TreeSizeTest, CountsBlocksOfAllFilesOnceAndFollowsNoLink) {
  const TempDir dir;
  put(dir / "a/b/file", 1 << 20);
  put(dir / "elsewhere/huge", 8 << 20);
  ASSERT_EQ(::link((dir / "a/b/file").c_str(), (dir / "a/again").c_str()), 0);
  ASSERT_EQ(::symlink((dir / "elsewhere").c_str(), (dir / "a/link").c_str()), 0);
  const Fd sparse(::open((dir / "a/sparse").c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_EQ(::ftruncate(sparse.get(), 1 << 30), 0);
  const auto size = measure_tree(dir / "a", {}, seconds(20));
  ASSERT_TRUE(size) << size.error().message;
  EXPECT_TRUE(size->is_whole);
  EXPECT_GE(size->bytes, mebibytes(1));
  EXPECT_LT(size->bytes, mebibytes(2));
  EXPECT_EQ(size->entries, 5U);
}

TEST(TreeSizeTest, LeavesOutWhatItIsToldAtTheTopAlone) {
  const TempDir dir;
  put(dir / "t/logs/file", 4 << 20);
  put(dir / "t/code/logs/file", 1 << 20);
  const auto size = measure_tree(dir / "t", {"logs"}, seconds(20));
  ASSERT_TRUE(size);
  EXPECT_GE(size->bytes, mebibytes(1));
  EXPECT_LT(size->bytes, mebibytes(2));
}

TEST(TreeSizeTest, ATreeOfAnyDepthIsWalkedWithFewDescriptors) {
  const TempDir dir;
  Fd at(::open((dir / "").c_str(), O_RDONLY | O_DIRECTORY));
  constexpr int kDepth = 3'000;
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
    at.reset(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY));
    ASSERT_TRUE(at);
  }
  const auto size = measure_tree(dir / "", {}, seconds(60));
  ASSERT_TRUE(size) << size.error().message;
  EXPECT_TRUE(size->is_whole);
  EXPECT_EQ(size->entries, static_cast<std::uint64_t>(kDepth));
  ASSERT_TRUE(remove_tree(dir / "d"));
}

TEST(TreeSizeTest, WhenTheTimeIsOverItSaysSo) {
  const TempDir dir;
  put(dir / "a/file", 10);
  const auto size = measure_tree(dir / "a", {}, Duration(0));
  ASSERT_TRUE(size);
  EXPECT_FALSE(size->is_whole);
  EXPECT_FALSE(measure_tree(dir / "none", {}, seconds(1)));
}

}  // namespace
}  // namespace lockstep::io
