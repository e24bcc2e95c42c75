#include "common/io/files/open_place.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lockstep::io {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A datastore's directory in one that everybody may enter.
class OpenPlace : public testing::Test {
 protected:
  OpenPlace() {
    char name[] = "/tmp/ls-place-XXXXXX";
    folder_ = ::mkdtemp(name);
    ::chmod(folder_.c_str(), 0755);
    fs::create_directories(folder_ + "/store/set/sub");
    std::ofstream(folder_ + "/store/set/a.txt") << "first";
    std::ofstream(folder_ + "/secret") << "secret";
    user_ = *(::geteuid() == 0 ? find_user("nobody") : current_user());
  }
  ~OpenPlace() override { fs::remove_all(folder_); }

  DatastorePath at(const std::string& path) const { return {"store", folder_ + "/store", path}; }
  ErrorCode error_at(const std::string& path, bool writable = false) const {
    const auto opened = open_place(at(path), user_, writable);
    return opened ? ErrorCode::internal : opened.error().code;
  }

  std::string folder_;
  User user_;
};

TEST_F(OpenPlace, OpensWhatIsThere) {
  EXPECT_TRUE(open_place(at(""), user_, false)->is_folder);
  EXPECT_TRUE(open_place(at("set/sub"), user_, false)->is_folder);
  const auto file = open_place(at("set/a.txt"), user_, false);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->is_folder);
  char text[8] = {};
  EXPECT_EQ(::read(reopen(file->fd.get(), O_RDONLY).get(), text, sizeof text), 5);
  const auto none = open_place(at("set/none"), user_, false);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "datastore 'store': " + folder_ + "/store/set/none does not exist on this node");
}

TEST_F(OpenPlace, FollowsLinksWithinTheDirectoryOnly) {
  fs::create_directory_symlink("set", folder_ + "/store/in");
  fs::create_directory_symlink("../../..", folder_ + "/store/set/up");
  fs::create_directory_symlink("/etc", folder_ + "/store/etc");
  fs::create_symlink("../../secret", folder_ + "/store/set/secret");
  EXPECT_TRUE(open_place(at("in/sub"), user_, false));
  for (const char* path : {"set/up", "set/up/etc", "etc", "etc/passwd", "set/secret"})
    EXPECT_EQ(error_at(path), ErrorCode::unsupported) << path;
  for (const char* path : {"../secret", "set/../../secret", "/etc"})
    EXPECT_EQ(error_at(path), ErrorCode::invalid_argument) << path;
}

TEST_F(OpenPlace, TakesNeitherPipesNorDevices) {
  ASSERT_EQ(::mkfifo((folder_ + "/store/pipe").c_str(), 0666), 0);
  EXPECT_EQ(error_at("pipe"), ErrorCode::unsupported);
}

TEST_F(OpenPlace, HasNoMoreThanTheUsersRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another";
  fs::create_directories(folder_ + "/store/closed/set");
  ::chmod((folder_ + "/store/closed").c_str(), 0700);
  std::ofstream(folder_ + "/store/mine") << "x";
  ::chmod((folder_ + "/store/mine").c_str(), 0600);
  for (const char* path : {"closed", "closed/set", "closed/none", "mine"})
    EXPECT_EQ(error_at(path), ErrorCode::permission_denied) << path;
  EXPECT_EQ(error_at("set", true), ErrorCode::permission_denied) << "it may read it";
  EXPECT_EQ(make_place(at("new/folder"), user_).error().code, ErrorCode::permission_denied);
  ::chmod((folder_ + "/store").c_str(), 01777);
  ASSERT_TRUE(make_place(at("new/folder"), user_));
  struct stat info {};
  ASSERT_EQ(::stat((folder_ + "/store/new/folder").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, user_.uid);
  EXPECT_TRUE(open_place(at("new/folder"), user_, true));
  EXPECT_EQ(::access((folder_ + "/store/mine").c_str(), R_OK), 0) << "we are root again";
}

TEST_F(OpenPlace, MakesNoFolderBeyondTheDirectory) {
  fs::create_directory_symlink(folder_, folder_ + "/store/up");
  EXPECT_FALSE(make_place(at("up/new"), user_));
  EXPECT_FALSE(fs::exists(folder_ + "/new"));
  const auto file = make_place(at("set/a.txt/below"), user_);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("set/a.txt is not a folder"));
}

}  // namespace
}  // namespace lockstep::io
