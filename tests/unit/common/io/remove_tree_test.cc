// Trees that somebody made to be hard to remove, and somebody who changes them meanwhile.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "common/io/beneath.h"
#include "tests/fakes/disk/deep_tree.h"
#include "tests/fakes/disk/faults.h"
#include "tests/fakes/disk/swaps.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

using testing::HasSubstr;

class RemoveTree : public testing::Test {
 protected:
  const test::TempDir dir_{test::quick_directory()};
  const std::string tree_ = dir_ / "tree";
};

// With the stack of a small thread and few descriptors.
TEST_F(RemoveTree, ATreeOf100000FoldersInOneAnother) {
  test::make_deep_tree(tree_, 100'000);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Status removed = remove_tree(tree_);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(exists(tree_));
}

TEST_F(RemoveTree, NamesOf255BytesAtAnyDepth) {
  test::make_deep_tree(tree_, 3'000, std::string(255, 'n'));
  const Status removed = remove_tree(tree_);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(exists(tree_));
}

TEST_F(RemoveTree, AFolderOfManyEntries) {
  ASSERT_TRUE(make_directories(tree_));
  const Fd folder(::open(tree_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 60'000; ++i)
    ASSERT_EQ(::symlinkat("nowhere", folder.get(), std::to_string(i).c_str()), 0);
  EXPECT_TRUE(remove_tree(tree_));
  EXPECT_FALSE(exists(tree_));
}

// Each of them is deeper than the folders that are kept open: the listing is begun anew.
TEST_F(RemoveTree, ManyDeepFoldersSideBySide) {
  for (int i = 0; i < 200; ++i) {
    test::make_deep_tree(tree_ + "/" + std::to_string(i), 70);
    ASSERT_TRUE(write_file_atomically(tree_ + "/" + std::to_string(i) + "/d/f", "x", 0644, false));
  }
  const Status removed = remove_tree(tree_);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(exists(tree_));
}

TEST_F(RemoveTree, AFailureSaysHowDeepItIs) {
  test::make_deep_tree(tree_, 200);
  test::DiskFaults faults({"file stays", EIO, true, false, {disk::Call::remove}}, 202);
  const disk::InFront front(faults);
  const Status removed = remove_tree(tree_);
  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().message, HasSubstr(tree_));
  EXPECT_THAT(removed.error().message, HasSubstr("200 folders down"));
}

TEST_F(RemoveTree, ASymlinkInPlaceOfAFolderLeadsNowhere) {
  const test::Canary canary(dir_ / "canary");
  const int swaps = test::each_swap(
      [&] {
        ASSERT_TRUE(remove_tree(tree_));
        ASSERT_TRUE(remove_tree(dir_ / "aside"));
        ASSERT_TRUE(make_directories(tree_ + "/a/inner/c"));
        ASSERT_TRUE(write_file_atomically(tree_ + "/a/inner/file", "x", 0644, false));
      },
      [&] {
        ::rename((tree_ + "/a").c_str(), (dir_ / "aside").c_str());
        EXPECT_EQ(::symlink(canary.path().c_str(), (tree_ + "/a").c_str()), exists(tree_) ? 0 : -1);
      },
      [&] { static_cast<void>(remove_tree(tree_)); }, [&] { canary.is_untouched(); });
  EXPECT_GT(swaps, 8);
}

// What was moved away is no longer the tree's: nothing beside it is touched.
TEST_F(RemoveTree, AFolderThatIsMovedOutMeanwhile) {
  const test::Canary canary(dir_ / "canary");
  std::string middle = tree_;
  for (int i = 0; i < 40; ++i) middle += "/d";
  const std::string aside = canary.path() + "/inner";
  const int swaps = test::each_swap(
      [&] {
        ASSERT_TRUE(remove_tree(tree_));
        test::make_deep_tree(tree_, 80);
      },
      [&] { ::rename(middle.c_str(), (aside + "/moved").c_str()); },
      [&] { static_cast<void>(remove_tree(tree_)); },
      [&] {
        ASSERT_TRUE(remove_tree(aside + "/moved"));
        canary.is_untouched();
      });
  EXPECT_GT(swaps, 150);
}

TEST_F(RemoveTree, WhatIsAddedMeanwhileGoesToo) {
  ASSERT_TRUE(make_directories(tree_ + "/a/b"));
  test::Swap swap(4,
                  [&] { ASSERT_TRUE(write_file_atomically(tree_ + "/late", "x", 0644, false)); });
  const disk::InFront front(swap);
  const Status removed = remove_tree(tree_);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(exists(tree_));
}

}  // namespace
}  // namespace lockstep::io
