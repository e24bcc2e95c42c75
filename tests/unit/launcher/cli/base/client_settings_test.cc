// What a user has chosen once: the file, and what comes before it.

#include "launcher/cli/base/client_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

class ClientSettings : public testing::Test {
 protected:
  ClientSettings() { unsetenv("LOCKSTEP_COMPUTE"); }
  ~ClientSettings() override { unsetenv("LOCKSTEP_COMPUTE"); }
  void write(const std::string& text) const {
    ASSERT_TRUE(io::write_file_atomically(file(), text, 0600));
  }
  std::string file() const { return home_.path() + "/config.json"; }

  test::TempDir directory_;
  LocalHome home_{directory_.path()};
};

TEST_F(ClientSettings, NothingIsSetInTheBeginning) {
  EXPECT_EQ(read_settings(home_).value(), Settings{});
  EXPECT_EQ(default_compute(home_)->name, "");
}

TEST_F(ClientSettings, WhatIsWrittenIsReadAgainAndIsNobodyElses) {
  const Settings settings{{"defaults.compute", "gpu-cluster"}};
  ASSERT_TRUE(write_settings(home_, settings));
  EXPECT_EQ(read_settings(home_).value(), settings);
  EXPECT_EQ(default_compute(home_)->name, "gpu-cluster");
  EXPECT_EQ(default_compute(home_)->where, "defaults.compute");
}

TEST_F(ClientSettings, TheVariableComesFirst) {
  ASSERT_TRUE(write_settings(home_, {{"defaults.compute", "gpu-cluster"}}));
  setenv("LOCKSTEP_COMPUTE", "azureml:lab", 1);
  EXPECT_EQ(default_compute(home_)->name, "lab");
  EXPECT_EQ(default_compute(home_)->where, "LOCKSTEP_COMPUTE");
  setenv("LOCKSTEP_COMPUTE", "no name", 1);
  EXPECT_THAT(default_compute(home_).error().message, HasSubstr("LOCKSTEP_COMPUTE: 'no name'"));
}

TEST_F(ClientSettings, ABrokenFileIsSaidWithAWayOut) {
  for (const char* text : {"", "{", "[]", R"({"defaults.compute": 3})", R"({"color": "red"})",
                           R"({"defaults.compute": "../x"})"}) {
    write(text);
    const auto read = read_settings(home_);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(file())) << text;
    EXPECT_THAT(read.error().message, HasSubstr("remove the file")) << text;
  }
}

TEST_F(ClientSettings, OnlyKnownKeysAndGoodValues) {
  EXPECT_TRUE(check_setting("defaults.compute", "lab"));
  EXPECT_THAT(check_setting("defaults.computes", "lab").error().message,
              HasSubstr("did you mean 'defaults.compute'?"));
  EXPECT_THAT(check_setting("defaults.compute", "").error().message, HasSubstr("3 to 24"));
  EXPECT_TRUE(check_setting("defaults.output", "tsv"));
  EXPECT_THAT(check_setting("defaults.output", "xml").error().message, HasSubstr("'xml' is not"));
  EXPECT_TRUE(check_setting("defaults.experiment", "digits: m\xc3\xa4rz"));
  for (const std::string& bad : {std::string(), std::string(300, 'x'), std::string("a\nb"),
                                 std::string("\x1b[31m"), std::string("\xff")})
    EXPECT_FALSE(check_setting("defaults.experiment", bad)) << bad;
}

TEST_F(ClientSettings, TheExperimentIsThatOfJobsThatNameNone) {
  ASSERT_TRUE(write_settings(home_, {{"defaults.experiment", "digits"}}));
  JobSpec none, named;
  none.experiment_name = "Default";
  named.experiment_name = "mine";
  ASSERT_TRUE(choose_experiment(home_, none));
  ASSERT_TRUE(choose_experiment(home_, named));
  EXPECT_EQ(none.experiment_name, "digits");
  EXPECT_EQ(named.experiment_name, "mine");
}

}  // namespace
}  // namespace lockstep::cli
