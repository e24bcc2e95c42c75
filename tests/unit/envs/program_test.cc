// lockstep-env itself, with the real python3.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/programs/run_program.h"
#include "tests/unit/envs/program.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

class EnvProgram : public testing::Test {
 protected:
  void SetUp() override { dir.folder("cache"); }
  Site site(const std::string& name) { return {dir / name, dir / "cache"}; }
  Told run(const Order& order) { return Program(order).wait(); }
  test::TempDir dir;
};

TEST_F(EnvProgram, AHostInterpreterIsCheckedAndBecomesPython) {
  const Told told =
      run({Order::What::build, HostEnvironment{"/usr/bin/python3"}, {}, site("host")});
  ASSERT_TRUE(told.last().activation) << told.all();
  const Activation& got = *told.last().activation;
  EXPECT_EQ(got.interpreter, "/usr/bin/python3");
  EXPECT_THAT(got.version, testing::StartsWith("3."));
  const auto said = io::run_program(
      {got.path.front() + "/python", "-c", "import sys; print(sys.executable)"}, seconds(30));
  EXPECT_EQ(said->text, "/usr/bin/python3\n");
}

TEST_F(EnvProgram, AnInterpreterThatIsNoneIsNamed) {
  const auto refusal = [&](const std::string& interpreter) {
    const Told told = run({Order::What::build, HostEnvironment{interpreter}, {}, site("host")});
    return told.last().failed ? told.last().failed->message : "";
  };
  EXPECT_THAT(refusal("/nope/python"), HasSubstr("'/nope/python' does not exist"));
  EXPECT_THAT(refusal("python9"),
              HasSubstr("'python9' does not exist: no folder of PATH has it (/usr/bin:/bin)"));
  dir.file("plain", "", 0644);
  EXPECT_THAT(refusal(dir / "plain"), HasSubstr("/plain' exists, but this user may not run it"));
  EXPECT_THAT(refusal("/bin/false"), HasSubstr("did not report its version; it exited with 1"));
  EXPECT_THAT(refusal("/bin/echo"), HasSubstr("did not report its version; it exited with 0"));
}

}  // namespace
}  // namespace lockstep::envs
