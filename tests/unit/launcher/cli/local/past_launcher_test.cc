#include "launcher/cli/local/past_launcher.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "common/io/file_system.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

class PastLauncher : public testing::Test {
 protected:
  PastLauncher() { EXPECT_TRUE(io::make_directories(home_.launcher())); }
  void put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(io::write_file_atomically(path, text));
  }
  const test::TempDir dir_;
  LocalHome home_{dir_.path()};
};

TEST_F(PastLauncher, AnEmptyHomeAndOneThatLockstepStartedMayBeStarted) {
  EXPECT_TRUE(may_start_launcher(home_));
  put(home_.launcher_started(),
      R"({"by_lockstep": true, "command": [], "started": "then", "ended": ""})");
  EXPECT_TRUE(may_start_launcher(home_));
}

TEST_F(PastLauncher, AnOperatorsIsNotReplacedAndTheCommandIsSaid) {
  put(home_.launcher_started(), R"({"by_lockstep": false, "started": "S", "ended": "E",
      "command": ["/opt/lockstepd", "--home", "/srv/my home", "--listen", "tcp://0.0.0.0:7070"]})");
  const Status may = may_start_launcher(home_);
  ASSERT_FALSE(may);
  EXPECT_EQ(may.error().code, ErrorCode::unavailable);
  EXPECT_THAT(may.error().message, HasSubstr("is not running (it ended at E)"));
  EXPECT_THAT(may.error().message,
              HasSubstr("/opt/lockstepd --home '/srv/my home' --listen tcp://0.0.0.0:7070"));
}

TEST_F(PastLauncher, OneThatWasKilledWroteItsJournalLast) {
  put(home_.launcher_started(),
      R"({"by_lockstep": false, "started": "S", "ended": "", "command": ["lockstepd"]})");
  put(home_.journal(), "facts");
  EXPECT_THAT(may_start_launcher(home_).error().message,
              HasSubstr("started at S, last wrote its journal at 20"));
}

TEST_F(PastLauncher, AHomeOfBeforeTheRecordIsOursWhenItHasOurLog) {
  put(home_.journal(), "facts");
  EXPECT_FALSE(may_start_launcher(home_));
  put(home_.launcher_log(), "lines");
  EXPECT_TRUE(may_start_launcher(home_));
}

}  // namespace
}  // namespace lockstep::cli
