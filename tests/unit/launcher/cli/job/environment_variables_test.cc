#include "launcher/cli/job/environment_variables.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

struct Read {
  Variables variables;
  std::string error;  // with FILE for the file's path
};

Read read(const std::string& text) {
  const test::TempDir dir;
  dir.file("job.env", text);
  Read result;
  const Status done = read_env_file(dir / "job.env", result.variables);
  if (!done) result.error = done.error().message;
  if (const auto at = result.error.find(dir / "job.env"); at != result.error.npos)
    result.error.replace(at, (dir / "job.env").size(), "FILE");
  return result;
}

TEST(EnvFile, TakesDockersFormat) {
  ::setenv("LOCKSTEP_TEST_OURS", "of the caller", 1);
  const Read found = read(
      "\xEF\xBB\xBF# a comment\n\n  \t\n  # one more\nA=1\n  B= two words \nC=\"quotes\" stay\r\n"
      "D=x=y#z\nEMPTY=\nLOCKSTEP_TEST_OURS\nA=again");
  ::unsetenv("LOCKSTEP_TEST_OURS");
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.variables, (Variables{{"A", "again"},
                                        {"B", " two words "},
                                        {"C", "\"quotes\" stay"},
                                        {"D", "x=y#z"},
                                        {"EMPTY", ""},
                                        {"LOCKSTEP_TEST_OURS", "of the caller"}}));
}

TEST(EnvFile, NamesTheLineAndNeverAValue) {
  EXPECT_EQ(
      read("A=1\nexport TOKEN=hunter2\n").error,
      "run: --env-file FILE:2 is neither NAME=VALUE nor NAME (to pass on its value in this shell)");
  EXPECT_EQ(
      read("=hunter2").error,
      "run: --env-file FILE:1 is neither NAME=VALUE nor NAME (to pass on its value in this shell)");
  EXPECT_EQ(read("\nLOCKSTEP_TEST_UNSET\n").error,
            "run: --env-file FILE:2 LOCKSTEP_TEST_UNSET: this variable is not set here");
  EXPECT_EQ(read(std::string("A=x\0y", 5)).error, "run: --env-file FILE:1 holds a zero byte");
  Variables none;
  const Status missing = read_env_file("/nonexistent/job.env", none);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message.find("run: --env-file: "), 0u) << missing.error().message;
}

TEST(EnvWords, WinOverTheFile) {
  Variables variables{{"A", "of the file"}, {"B", "stays"}};
  ASSERT_TRUE(read_env_words({"A=of the line"}, variables));
  EXPECT_EQ(variables, (Variables{{"A", "of the line"}, {"B", "stays"}}));
}

}  // namespace
}  // namespace lockstep::cli
