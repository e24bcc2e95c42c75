// lockstep-env itself, with the real python3 and pip; packages are wheels that the tests write, so
// that no network is needed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "common/io/process_table.h"
#include "common/io/run_program.h"
#include "envs/order.h"
#include "tests/unit/envs/program.h"
#include "tests/unit/support/silent_server.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EnvProgram : public testing::Test {
 protected:
  void SetUp() override {
    dir.folder("wheels");
    dir.folder("cache");
  }
  Site site(const std::string& name) { return {dir / name, dir / "cache"}; }
  Told run(const Order& order) { return Program(order).wait(); }
  void wheel(const std::string& name, const std::string& version, const std::string& needs = "") {
    write_wheel(dir / "wheels", name, version, needs);
  }
  VenvEnvironment asks_for(std::vector<std::string> requirements) {
    return {
        "python3", {"--no-index", "--find-links " + (dir / "wheels")}, std::move(requirements), {}};
  }
  std::string version_in(const Activation& activation, const std::string& module) {
    const auto said = io::run_program(
        {activation.interpreter, "-c", "import " + module + "; print(" + module + ".VERSION)"},
        seconds(30));
    return said ? said->text + said->errors : said.error().message;
  }
  test::TempDir dir;
};

TEST_F(EnvProgram, a_host_interpreter_is_checked_and_becomes_python) {
  const Told told =
      run({Order::What::build, HostEnvironment{"/usr/bin/python3"}, {}, site("host")});
  ASSERT_TRUE(told.last().activation) << told.log;
  const Activation& got = *told.last().activation;
  EXPECT_EQ(got.interpreter, "/usr/bin/python3");
  EXPECT_THAT(got.version, testing::StartsWith("3."));
  const auto said = io::run_program(
      {got.path.front() + "/python", "-c", "import sys; print(sys.executable)"}, seconds(30));
  EXPECT_EQ(said->text, "/usr/bin/python3\n");
}

TEST_F(EnvProgram, an_interpreter_that_is_none_is_named) {
  const auto refusal = [&](const std::string& interpreter) {
    const Told told = run({Order::What::build, HostEnvironment{interpreter}, {}, site("host")});
    return told.last().failed ? told.last().failed->message : "";
  };
  EXPECT_THAT(refusal("/nope/python"), HasSubstr("'/nope/python' is not there"));
  EXPECT_THAT(refusal("python9"), HasSubstr("no folder of PATH has it"));
  EXPECT_THAT(refusal("/bin/false"), HasSubstr("did not say its version; it exited with 1"));
  EXPECT_THAT(refusal("/bin/echo"), HasSubstr("did not say its version; it exited with 0"));
}

TEST_F(EnvProgram, a_venv_is_solved_once_and_built_from_its_lock_without_its_index) {
  wheel("inner", "1.0");
  wheel("inner", "2.0");
  wheel("outer", "1.0", "inner<2");
  const VenvEnvironment asked = asks_for({"outer"});
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  const Lock lock = *solved.last().lock;
  ASSERT_EQ(lock.packages.size(), 2U);
  EXPECT_EQ(lock.packages[0].name + lock.packages[0].version, "inner1.0");
  const Told built = run({Order::What::build, asked, lock, site("one")});
  ASSERT_TRUE(built.last().activation) << built.log;
  EXPECT_EQ(version_in(*built.last().activation, "inner"), "1.0\n");
  EXPECT_EQ(built.last().activation->variables.at("VIRTUAL_ENV"), dir / "one");
  // The index is gone; what was fetched is here.
  ASSERT_TRUE(io::remove_tree(dir / "wheels"));
  const Told again = run({Order::What::build, asked, lock, site("two")});
  ASSERT_TRUE(again.last().activation) << again.log;
  EXPECT_EQ(version_in(*again.last().activation, "outer"), "1.0\n");
}

TEST_F(EnvProgram, a_file_that_changed_since_it_was_locked_is_refused) {
  wheel("inner", "1.0");
  const VenvEnvironment asked = asks_for({"inner"});
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  wheel("inner", "1.0", "other");
  const Told built = run({Order::What::build, asked, *solved.last().lock, site("one")});
  ASSERT_TRUE(built.last().failed) << built.log;
  EXPECT_EQ(built.last().failed->code, ErrorCode::invalid_argument);
  EXPECT_THAT(built.last().failed->message, HasSubstr("DO NOT MATCH THE HASHES"));
}

TEST_F(EnvProgram, what_is_asked_for_by_address_is_fetched_from_there) {
  wheel("inner", "1.0");
  const std::string address = "file://" + (dir / "wheels/inner-1.0-py3-none-any.whl");
  const VenvEnvironment asked{"python3", {"--no-index"}, {"inner @ " + address}, {}};
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  EXPECT_TRUE(solved.last().lock->packages.at(0).direct);
  const Told built = run({Order::What::build, asked, *solved.last().lock, site("one")});
  ASSERT_TRUE(built.last().activation) << built.log;
  EXPECT_EQ(version_in(*built.last().activation, "inner"), "1.0\n");
}

TEST_F(EnvProgram, a_password_is_not_in_the_log) {
  VenvEnvironment asked{
      "python3", {"--index-url http://ann:s3cr3t@127.0.0.1:9/simple"}, {"six"}, {}};
  Lock lock{"venv", "", "", {{"six", "1.0", {std::string(64, 'a')}, "", 0}}};
  const Told solved = run({Order::What::solve, asks_for({}), {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  lock.platform = solved.last().lock->platform;
  const Told told = run({Order::What::build, asked, lock, site("one")});
  EXPECT_TRUE(told.last().failed);
  EXPECT_THAT(told.log, HasSubstr("http://ann:****@127.0.0.1:9/simple"));
  EXPECT_THAT(told.log, Not(HasSubstr("s3cr3t")));
}

TEST_F(EnvProgram, a_tool_that_was_killed_is_not_the_definitions_fault) {
  const test::SilentServer silent;
  VenvEnvironment asked{"python3", {"--index-url " + silent.url()}, {"six"}, {}};
  Program program({Order::What::solve, asked, {}, site("solve")});
  const auto pip = [&]() -> int {
    for (const auto& process : io::descendants_of(program.pid())) {
      const auto words = io::read_file("/proc/" + std::to_string(process.pid) + "/cmdline");
      if (words && words->find("--dry-run") != std::string::npos) return process.pid;
    }
    return 0;
  };
  int pid = 0;
  for (int i = 0; i < 6000 && (pid = pip()) == 0; ++i) ::usleep(10'000);
  ASSERT_NE(pid, 0);
  ::kill(pid, SIGKILL);
  const Told told = program.wait();
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_EQ(told.last().failed->code, ErrorCode::unavailable);
  EXPECT_THAT(told.last().failed->message, HasSubstr("(it was killed)"));
}

TEST_F(EnvProgram, what_cannot_be_solved_is_explained) {
  const Told told = run({Order::What::solve, asks_for({"no-such-thing"}), {}, site("solve")});
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_EQ(told.last().failed->code, ErrorCode::invalid_argument);
  EXPECT_THAT(told.last().failed->message, HasSubstr("no-such-thing"));
  EXPECT_THAT(told.log, HasSubstr("pip install --dry-run"));
}

TEST_F(EnvProgram, an_index_that_is_away_is_not_the_definitions_fault) {
  VenvEnvironment asked{"python3", {"--index-url http://127.0.0.1:9/simple"}, {"six"}, {}};
  const Told told = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_EQ(told.last().failed->code, ErrorCode::unavailable);
  EXPECT_THAT(told.last().failed->message, HasSubstr("the index was not reached"));
}

TEST_F(EnvProgram, told_to_stop_it_leaves_no_process) {
  const test::SilentServer silent;
  VenvEnvironment asked{"python3", {"--index-url " + silent.url()}, {"six"}, {}};
  Program program({Order::What::solve, asked, {}, site("solve")});
  const auto busy = [&] { return !io::descendants_of(program.pid()).empty(); };
  for (int i = 0; i < 6000 && !busy(); ++i) ::usleep(10'000);
  ASSERT_TRUE(busy());
  const auto tools = io::descendants_of(program.pid());
  ::kill(program.pid(), SIGTERM);
  const Told told = program.wait();
  ASSERT_FALSE(told.events.empty());
  ASSERT_TRUE(told.last().failed);
  EXPECT_EQ(told.last().failed->code, ErrorCode::conflict);
  for (const auto& tool : tools) EXPECT_FALSE(io::is_alive(tool));
}

}  // namespace
}  // namespace lockstep::envs
