#include "launcher/daemon/remotes/rclone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lockstep::launcher {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Rclone : public testing::Test {
 protected:
  Rclone() {
    char name[] = "/tmp/ls-rclone-XXXXXX";
    folder_ = ::mkdtemp(name);
    files_ = {"there:bucket", folder_ + "/rclone.conf", "set",
              "azureml://datastores/lake/paths/set"};
    std::ofstream(files_.config)
        << "[there]\ntype = webdav\nurl = http://user@host.example:8080/x\n"
           "pass = obscured-word\n";
    ::chmod(files_.config.c_str(), 0600);
  }
  ~Rclone() override { fs::remove_all(folder_); }

  // A program `rclone` that the shell runs.
  RcloneContext context(const std::string& script, Duration silence = seconds(30)) {
    std::ofstream(folder_ + "/rclone") << "#!/bin/sh\n" << script << "\n";
    ::chmod((folder_ + "/rclone").c_str(), 0755);
    return {folder_, silence, nullptr, folder_};
  }

  std::string folder_;
  RemoteFiles files_;
};

TEST_F(Rclone, ReadsAListing) {
  const auto listing = read_listing(
      R"([{"Path":"b","Size":2,"ModTime":"t","IsDir":false,"Hashes":{"md5":"x"}},)"
      R"({"Path":"d","Size":-1,"IsDir":true},{"Path":"a/-c:d","Size":3,"IsDir":false}])");
  ASSERT_TRUE(listing) << listing.error().message;
  const std::vector<RemoteFile> wanted = {{"a/-c:d", 3, ""}, {"b", 2, R"(t{"md5":"x"})"}};
  EXPECT_EQ(listing->files, wanted);
  EXPECT_EQ(listing->bytes, 5u);
}

TEST_F(Rclone, TakesNoNameThatLeadsElsewhere) {
  for (const char* path :
       {"../x", "/etc/x", "a/../../x", "a//b", ".", "a/.", "", "a\\nb", "a\\u0000"})
    EXPECT_FALSE(
        read_listing(std::string(R"([{"Path":")") + path + R"(","Size":1,"IsDir":false}])"))
        << path;
  for (const char* json : {"", "{}", "[1]", "[{}]", R"([{"Path":"a","Size":-1,"IsDir":false}])"})
    EXPECT_FALSE(read_listing(json)) << json;
}

TEST_F(Rclone, GetsNothingOfOurEnvironmentAndNoOptionOfAUsers) {
  ::setenv("RCLONE_CONFIG_THERE_HOST", "elsewhere", 1);
  files_.path = "--config/x";
  const auto ran = list_remote(
      files_, context("env > " + folder_ + "/seen; echo \"$@\" >> " + folder_ + "/seen; exit 3"));
  ::unsetenv("RCLONE_CONFIG_THERE_HOST");
  EXPECT_EQ(ran.error().code, ErrorCode::not_found);
  std::ifstream seen(folder_ + "/seen");
  const std::string text(std::istreambuf_iterator<char>(seen), {});
  EXPECT_THAT(text, Not(HasSubstr("RCLONE")));
  EXPECT_THAT(text, HasSubstr("-- there:bucket/--config/x\n"));
}

TEST_F(Rclone, ShowsNothingOfTheOperatorsFiles) {
  const auto ran = list_remote(
      files_,
      context("echo '{\"level\":\"error\",\"msg\":\"dial http://user@host.example:8080/x "
              "host.example with obscured-word for there:bucket/set: refused\"}' >&2; exit 1"));
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            "it cannot be fetched: dial *** *** with *** for azureml://datastores/lake/paths/set: "
            "refused");
}

TEST_F(Rclone, WritesOverWhatHasTheSameSize) {
  const std::string from = folder_ + "/from";
  const auto at = context("echo \"$@\" >> " + folder_ + "/seen");
  ASSERT_TRUE(write_remote(files_, from, false, at));
  ASSERT_TRUE(write_remote(files_, from + "/a", true, at));
  std::ifstream seen(folder_ + "/seen");
  std::string folder, file;
  std::getline(seen, folder);
  std::getline(seen, file);
  EXPECT_THAT(folder, HasSubstr(" copy --ignore-times "));
  EXPECT_THAT(folder, HasSubstr("-- " + from + " there:bucket/set"));
  EXPECT_THAT(file, HasSubstr(" copyto --ignore-times "));
}

TEST_F(Rclone, SaysWhyNothingWasWrittenWithoutTheOperatorsFilesAndOurs) {
  const std::string from = folder_ + "/from";
  const auto written = write_remote(files_, from, false,
                                    context("echo \"2026/11/26 16:31:52 cannot copy " + from +
                                            " to there:bucket/set: obscured-word\" >&2; exit 3"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::unavailable);
  EXPECT_EQ(written.error().message,
            "it cannot be written: cannot copy the output to azureml://datastores/lake/paths/set: "
            "***");
}

TEST_F(Rclone, IsEndedWhenItIsSilent) {
  const auto ran = list_remote(files_, context("exec sleep 60", milliseconds(300)));
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("the server sent nothing for"));
}

TEST_F(Rclone, IsNamedWhenItIsNotInstalled) {
  const auto ran = list_remote(files_, {folder_, seconds(1), nullptr, folder_ + "/none"});
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("apt install rclone"));
}

TEST_F(Rclone, UsesNoConfigurationThatOthersRead) {
  ::chmod(files_.config.c_str(), 0640);
  const auto ran = list_remote(files_, context("exit 0"));
  EXPECT_EQ(ran.error().code, ErrorCode::permission_denied);
}

}  // namespace
}  // namespace lockstep::launcher
