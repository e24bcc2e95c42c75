// What decides in the log of a build that failed. Real logs, shortened; venv_test makes new ones.

#include "envs/venv/failed_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {
namespace {

using testing::ElementsAre;

std::optional<FailedBuild> of(const std::string& log) {
  const test::TempDir dir;
  EXPECT_TRUE(io::write_file_atomically(dir / "log", log, 0600, false));
  return failed_build(dir / "log");
}

TEST(FailedBuild, TheCompilersErrorDecidesAndNotWhoSaysItAgain) {
  const auto failed = of(
      "2026-11-25T04:43:08,097   Running command Getting requirements to build wheel\n"
      "2026-11-25T04:43:08,098   running egg_info: error: no such thing\n"
      "2026-11-25T04:43:08,439   Running command Building wheel for bad (pyproject.toml)\n"
      "2026-11-25T04:43:08,675   running build_ext\n"
      "2026-11-25T04:43:08,997   bad.c:2:10: fatal error: gone.h: No such file or directory\n"
      "2026-11-25T04:43:08,998       2 | #include <gone.h>\n"
      "2026-11-25T04:43:08,998         |          ^~~~~~~~\n"
      "2026-11-25T04:43:09,007   error: Command '['gcc', '-c']' returned non-zero exit status 1.\n"
      "2026-11-25T04:43:09,076   ERROR: [present-rich] Building wheel for bad (pyproject.toml) "
      "exited with 1\n"
      "2026-11-25T04:43:09,084   ERROR: Failed building wheel for bad\n"
      "2026-11-25T04:43:09,085   ERROR: [present-rich] metadata generation failed\n");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->step, "Building wheel for bad (pyproject.toml) exited with 1");
  EXPECT_THAT(failed->deciding,
              ElementsAre("bad.c:2:10: fatal error: gone.h: No such file or directory"));
  ASSERT_EQ(failed->output.size(), 5U);
  EXPECT_EQ(failed->output[0], "running build_ext");
  EXPECT_EQ(failed->output[2], "    2 | #include <gone.h>");
}

TEST(FailedBuild, WithoutTheWordErrorItsLastLineDecides) {
  const auto failed =
      of("2026-11-25T04:43:08,439   Running command python setup.py egg_info\n"
         "2026-11-25T04:43:08,675   this package wants cmake\n"
         "2026-11-25T04:43:08,675       ^^^^\n"
         "2026-11-25T04:43:09,007   error: subprocess-exited-with-error\n");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->step, "python setup.py egg_info");
  EXPECT_THAT(failed->deciding, ElementsAre("this package wants cmake"));
}

TEST(FailedBuild, OfManyErrorsTheFirstOnesAreShown) {
  std::string log = "2026-11-25T04:43:08,439   Running command Building wheel for x\n";
  for (int i = 0; i < 5'000; ++i)
    log += "2026-11-25T04:43:08,675   a.c:1: error: " + std::to_string(i) + "\n";
  log += "2026-11-25T04:43:09,076   ERROR: [present-rich] Building wheel for x exited with 1\n";
  const auto failed = of(log);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->output.size(), kMaxBuildLines);
  EXPECT_EQ(failed->deciding.size(), kMaxDecidingLines);
}

TEST(FailedBuild, ALogWithoutOneTellsOfNone) {
  EXPECT_FALSE(of(""));
  EXPECT_FALSE(
      of("2026-11-25T04:43:08,439   Running command Building wheel for x\n"
         "2026-11-25T04:43:08,675   error: but it went on\n"));
  EXPECT_FALSE(failed_build("/nowhere"));
}

}  // namespace
}  // namespace lockstep::envs
