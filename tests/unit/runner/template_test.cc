// The real lockstep-runner as a template: what is forked from it is a runner like any other.

#include <gtest/gtest.h>

#include "common/io/programs/fork_server.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

TEST(RunnerTemplateTest, ForkedRunnersAreAsThoseThatAreStarted) {
  io::DetachedStart start;
  start.program = std::string(LOCKSTEP_BIN_DIR) + "/lockstep-runner";
  start.arguments = {"lockstep-template", "--template"};
  start.environment = {{"PATH", "/usr/bin:/bin"}, {"SECRET_OF_THE_AGENT", "1"}};
  const auto server = io::ForkServer::start(start, 500);
  ASSERT_TRUE(server) << server.error().message;
  Attempt attempts[2];
  io::ProcessIdentity runners[2];
  for (int i = 0; i < 2; ++i) {
    Attempt& attempt = attempts[i];
    const std::string& path = attempt.directory().path();
    attempt.shell("cat; echo ${SECRET_OF_THE_AGENT-none}; umask");
    attempt.write_orders();
    const auto forked = (*server)->fork(
        {{"lockstep-runner", "--attempt-dir", path}, attempt.directory().runner_log()});
    ASSERT_TRUE(forked) << forked.error().message;
    runners[i] = *forked;
    EXPECT_EQ(io::read_file(attempt.directory().runner_pid()).value_or(""), io::to_text(*forked))
        << "whoever comes later finds it";
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(wait_until([&] { return !io::is_alive(runners[i]); }));
    EXPECT_EQ(attempts[i].report().cause, Cause::completed);
    EXPECT_EQ(attempts[i].out(), "none\n0022\n");
  }
  const auto again = (*server)->fork(
      {{"lockstep-runner", "--attempt-dir", attempts[0].directory().path()}, "/dev/null"});
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("already has its final report"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::runner::testing
