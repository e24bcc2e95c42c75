#include "common/io/beneath.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fakes/disk/swaps.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::io {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr uid_t kSomebody = 65534;

// The same, whether the kernel keeps a path below its base or we do.
class Beneath : public testing::TestWithParam<Resolve> {
 protected:
  Fd at(const std::string& path, int flags = O_RDONLY) {
    return open_beneath(base_.fd(), path, flags, 0600, GetParam());
  }

  const test::TempDir dir_;
  const test::Canary canary_{dir_ / "canary"};
  const bool made_ = make_directories(dir_ / "base/a/b").has_value() &&
                     write_file_atomically(dir_ / "base/a/file", "x", 0644, false).has_value();
  const Folder base_ = *Folder::open(dir_ / "base");
};

TEST_P(Beneath, OpensWhatLiesBelow) {
  EXPECT_TRUE(at("a"));
  EXPECT_TRUE(at("a/b", O_RDONLY | O_DIRECTORY));
  EXPECT_TRUE(at("a/file"));
  EXPECT_TRUE(at("a/b/new", O_WRONLY | O_CREAT | O_EXCL));
  EXPECT_FALSE(at("a/none"));
  EXPECT_EQ(errno, ENOENT);
}

TEST_P(Beneath, FollowsNoSymlinkAnywhere) {
  dir_.link(canary_.path(), "base/link");
  dir_.link("a", "base/inside");
  for (const char* path : {"link", "link/file", "inside", "inside/file", "inside/b"}) {
    EXPECT_FALSE(at(path)) << path;
    EXPECT_THAT(errno, AnyOf(ELOOP, ENOTDIR)) << path;
    EXPECT_FALSE(at(path, O_WRONLY | O_CREAT)) << path;
  }
  canary_.is_untouched();
}

TEST_P(Beneath, NeverLeadsOut) {
  for (const std::string path : {"../canary/file", "a/../../canary/file", "..", "a/.."}) {
    if (path == "a/.." && GetParam() == Resolve::by_kernel) continue;  // it is the base itself
    EXPECT_FALSE(at(path)) << path;
    EXPECT_EQ(errno, EXDEV) << path;
  }
  EXPECT_FALSE(at(canary_.path() + "/file"));
  EXPECT_EQ(errno, EXDEV);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Beneath, testing::Values(Resolve::by_kernel, Resolve::by_name),
                         [](const auto& info) {
                           return info.param == Resolve::by_kernel ? "openat2" : "name_by_name";
                         });

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(remove_tree(dir_ / "users"));
    ASSERT_TRUE(make_directories(dir_ / "users"));
  }
  const test::TempDir dir_;
  const test::Canary canary_{dir_ / "canary"};
};

TEST_F(FolderTest, MakesAFolderForAnotherUserAndLeavesOneThatIsThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  const Folder users = *Folder::open(dir_ / "users");
  ASSERT_TRUE(users.make_for("new", {kSomebody, kSomebody}, 0750));
  struct stat info {};
  ASSERT_EQ(::stat((dir_ / "users/new").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kSomebody);
  EXPECT_EQ(info.st_mode & 07777, 0750u);
  ASSERT_TRUE(make_directories(dir_ / "users/old", 0711));
  ASSERT_TRUE(users.make_for("old", {kSomebody, kSomebody}, 0755));
  ASSERT_EQ(::stat((dir_ / "users/old").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 0u);
  EXPECT_EQ(info.st_mode & 07777, 0711u);
  ASSERT_TRUE(make_directories(dir_ / "users/cut_off", 0700));
  ASSERT_TRUE(users.make_for("cut_off", {kSomebody, kSomebody}, 0755));
  ASSERT_EQ(::stat((dir_ / "users/cut_off").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kSomebody);
}

TEST_F(FolderTest, NothingBeyondIsGivenAwayWhateverIsSwapped) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  const int swaps =
      test::each_swap([&] { SetUp(); },
                      [&] {
                        ::rename((dir_ / "users/new").c_str(), (dir_ / "users/aside").c_str());
                        dir_.link(canary_.path(), "users/new");
                      },
                      [&] {
                        const auto users = Folder::open(dir_ / "users");
                        const auto made = users->make_for("new", {kSomebody, kSomebody}, 0777);
                        if (made)
                          static_cast<void>(made->make_for("inner", {kSomebody, kSomebody}, 0777));
                      },
                      [&] { canary_.is_untouched(); });
  EXPECT_EQ(swaps, 9);  // twice mkdirat, openat2, fchown, fchmod, and the users' folder's open
}

TEST_F(FolderTest, AFolderOfAnotherUserInPlaceOfTheNewOneIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  const Folder users = *Folder::open(dir_ / "users");
  test::Swap swap(2, [&] {
    ASSERT_EQ(::rmdir((dir_ / "users/new").c_str()), 0);
    ASSERT_EQ(::mkdir((dir_ / "users/new").c_str(), 0755), 0);
    ASSERT_EQ(::chown((dir_ / "users/new").c_str(), 1, 1), 0);
  });
  const disk::InFront front(swap);
  const auto made = users.make_for("new", {kSomebody, kSomebody}, 0755);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("replaced by another user"));
}

}  // namespace
}  // namespace lockstep::io
