#include "common/io/files/places.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/io/helpers.h"

namespace lockstep::io {
namespace {

constexpr uid_t kAlice = 61001;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

void make(const std::string& path, mode_t mode) {
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

void expect_refused(const Status& status, const std::string& path, const std::string& why) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::permission_denied);
  EXPECT_NE(status.error().message.find(path), std::string::npos) << status.error().message;
  EXPECT_NE(status.error().message.find(why), std::string::npos) << status.error().message;
}

Status secured(const std::string& path, int mode) {
  const auto done = secure_home(path, mode);
  return done ? Status{} : Status(done.error());
}

TEST(PlacesTest, PrivateFoldersAreMadeWhateverTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(077);
  const std::string jobs = dir / "lockstep/jobs";
  const Status made = make_private_folders(jobs);
  ::umask(before);
  ASSERT_TRUE(made) << made.error().message;
  const mode_t expected = ::geteuid() == 0 ? 0755 : 0700;
  EXPECT_EQ(mode_of(dir / "lockstep"), expected);
  EXPECT_EQ(mode_of(jobs), expected);
  EXPECT_TRUE(make_private_folders(jobs)) << "they are used again";
}

TEST(PlacesTest, APrivateFolderThatOthersMayWriteToIsRefused) {
  const TempDir dir;
  make(dir / "lockstep", 01777);
  expect_refused(make_private_folders(dir / "lockstep/jobs"), dir / "lockstep", "mode 1777");
  EXPECT_FALSE(exists(dir / "lockstep/jobs"));
}

TEST(PlacesTest, ASymlinkOrAFileInPlaceOfAPrivateFolderIsRefused) {
  const TempDir dir;
  make(dir / "elsewhere", 0755);
  ASSERT_EQ(::symlink((dir / "elsewhere").c_str(), (dir / "lockstep").c_str()), 0);
  expect_refused(make_private_folders(dir / "lockstep/jobs"), dir / "lockstep", "no directory");
  EXPECT_FALSE(exists(dir / "elsewhere/jobs"));
  make(dir / "own", 0755);
  ASSERT_EQ(::mkfifo((dir / "own/jobs").c_str(), 0666), 0);
  expect_refused(make_private_folders(dir / "own/jobs"), dir / "own/jobs", "no directory");
}

TEST(PlacesTest, APrivateFolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: giving a folder away";
  const TempDir dir;
  make(dir / "lockstep", 0755);
  ASSERT_EQ(::chown((dir / "lockstep").c_str(), kAlice, kAlice), 0);
  expect_refused(make_private_folders(dir / "lockstep/jobs"), dir / "lockstep", "61001");
}

TEST(PlacesTest, AFolderIsUnchangeableOnlyIfAllAboveItAre) {
  const TempDir dir;  // in /tmp, which is sticky
  make(dir / "above", 0755);
  make(dir / "above/own", 0700);
  EXPECT_TRUE(expect_unchangeable_by_others(dir / "above/own"));
  ASSERT_EQ(::chmod((dir / "above").c_str(), 0777), 0);
  expect_refused(expect_unchangeable_by_others(dir / "above/own"), dir / "above", "writable");
  ASSERT_EQ(::chmod((dir / "above").c_str(), 01777), 0);
  EXPECT_TRUE(expect_unchangeable_by_others(dir / "above/own")) << "nobody else can replace it";
  ASSERT_EQ(::chmod((dir / "above/own").c_str(), 01777), 0);
  expect_refused(expect_unchangeable_by_others(dir / "above/own"), dir / "above/own", "writable");
  ASSERT_EQ(::chmod((dir / "above/own").c_str(), 0700), 0);
  ASSERT_EQ(::symlink((dir / "above/own").c_str(), (dir / "link").c_str()), 0);
  expect_refused(expect_unchangeable_by_others(dir / "link"), dir / "link", "symlink");
  EXPECT_FALSE(expect_unchangeable_by_others(dir / "missing"));
}

TEST(PlacesTest, AFolderOrOneAboveItThatIsAnotherAccountsIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: giving a folder away";
  const TempDir dir;
  make(dir / "theirs", 0755);
  make(dir / "theirs/own", 0700);
  ASSERT_EQ(::chown((dir / "theirs").c_str(), kAlice, kAlice), 0);
  expect_refused(expect_unchangeable_by_others(dir / "theirs/own"), dir / "theirs", "another");
  expect_refused(expect_unchangeable_by_others(dir / "theirs"), dir / "theirs", "another");
}

TEST(PlacesTest, AHomeThatOthersMayReadIsMendedAndThatIsSaid) {
  const TempDir dir;
  make(dir / "home", 0755);
  const auto mended = secure_home(dir / "home", 0700);
  ASSERT_TRUE(mended) << mended.error().message;
  EXPECT_NE(mended->find("changed the mode of the home " + (dir / "home") + " from 0755 to 0700"),
            std::string::npos)
      << *mended;
  EXPECT_EQ(mode_of(dir / "home"), 0700u);
  EXPECT_EQ(*secure_home(dir / "home", 0700), "") << "nothing is said twice";
}

TEST(PlacesTest, AHomeSaysThatNoSnapshotTakesIt) {
  const TempDir dir;
  make(dir / "home", 0700);
  leave_home_out_of_snapshots(dir / "home");
  EXPECT_EQ(read_file(dir / "home/.gitignore").value_or("none"), "# a home of Lockstep\n*\n");
  ASSERT_TRUE(write_file_atomically(dir / "home/.gitignore", "logs\n", 0600));
  leave_home_out_of_snapshots(dir / "home");
  EXPECT_EQ(read_file(dir / "home/.gitignore").value_or("none"), "logs\n") << "it is the user's";
  leave_home_out_of_snapshots(dir / "nowhere");
}

TEST(PlacesTest, ANewHomeGetsItsModeWhateverTheUmask) {
  const TempDir dir;
  const mode_t before = ::umask(077);
  const auto made = secure_home(dir / "home", 0711);
  ::umask(before);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(*made, "");
  EXPECT_EQ(mode_of(dir / "home"), 0711u);
}

TEST(PlacesTest, AHomeThatOthersMayWriteToIsRefusedAndLeftAsItIs) {
  const TempDir dir;
  make(dir / "home", 0770);
  expect_refused(secured(dir / "home", 0700), dir / "home", "chmod 0700");
  EXPECT_EQ(mode_of(dir / "home"), 0770u);
}

TEST(PlacesTest, AHomeOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: giving a folder away";
  const TempDir dir;
  make(dir / "home", 0700);
  ASSERT_EQ(::chown((dir / "home").c_str(), kAlice, kAlice), 0);
  expect_refused(secured(dir / "home", 0700), dir / "home", "--home");
}

TEST(PlacesTest, AFileIsClosedToOthersAndALinkIsNotFollowed) {
  const TempDir dir;
  EXPECT_TRUE(close_to_others(dir / "none"));
  ASSERT_TRUE(write_file_atomically(dir / "journal.db", "x", 0644, false));
  ASSERT_TRUE(close_to_others(dir / "journal.db"));
  EXPECT_EQ(mode_of(dir / "journal.db"), 0600u);
  ASSERT_TRUE(write_file_atomically(dir / "other", "x", 0644, false));
  ASSERT_EQ(::symlink((dir / "other").c_str(), (dir / "link").c_str()), 0);
  EXPECT_FALSE(close_to_others(dir / "link"));
  EXPECT_EQ(mode_of(dir / "other"), 0644u);
}

}  // namespace
}  // namespace lockstep::io
