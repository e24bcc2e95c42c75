// Virtual environments: lockstep-env with the real python3, and pip or uv. Packages are wheels that
// the tests write, so that no network is needed but to get uv, once.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <memory>

#include "common/io/programs/process_table.h"
#include "common/io/programs/run_program.h"
#include "tests/unit/envs/http_server.h"
#include "tests/unit/envs/program.h"
#include "tests/unit/support/silent_server.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;
using testing::Not;

// Where it is, alone in a folder; from the index of Python packages, once for the test program.
const std::string& folder_of_uv() {
  static const test::TempDir dir;
  static const std::string folder = [] {
    dir.folder("bin");
    const auto run = [](std::vector<std::string> words) {
      const auto ended = io::run_program(words, seconds(300));
      EXPECT_TRUE(ended && ended->exit_code == 0) << (ended ? ended->errors : words[0]);
    };
    run({"/usr/bin/python3", "-m", "venv", dir / "venv"});
    run({dir / "venv/bin/pip", "install", "--quiet", "uv"});
    dir.link(dir / "venv/bin/uv", "bin/uv");
    return dir / "bin";
  }();
  return folder;
}

class EnvVenv : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    dir.folder("wheels");
    dir.folder("cache");
    if (is_uv()) more["PATH"] = folder_of_uv() + ":/usr/bin:/bin";
  }
  static bool is_uv() { return std::string(GetParam()) == "uv"; }
  Site site(const std::string& name) { return {dir / name, dir / "cache"}; }
  Told run(const Order& order) { return Program(order, more).wait(); }
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
  std::map<std::string, std::string> more;  // of lockstep-env's environment
};
INSTANTIATE_TEST_SUITE_P(By, EnvVenv, testing::Values("pip", "uv"),
                         [](const auto& with) { return std::string(with.param); });

TEST_P(EnvVenv, AVenvIsSolvedOnceAndBuiltFromItsLockWithoutItsIndex) {
  wheel("inner", "1.0");
  wheel("inner", "2.0");
  wheel("outer", "1.0", "inner<2");
  auto index = std::make_unique<HttpServer>(dir.path());
  VenvEnvironment asked = asks_for({"outer"});
  asked.options = {"--no-index", "--find-links " + index->url("wheels/")};
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  const Lock lock = *solved.last().lock;
  ASSERT_EQ(lock.packages.size(), 2U);
  EXPECT_EQ(lock.packages[0].name + lock.packages[0].version, "inner1.0");
  EXPECT_THAT(lock.solver, testing::StartsWith(GetParam()));
  const Told built = run({Order::What::build, asked, lock, site("one")});
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(version_in(*built.last().activation, "inner"), "1.0\n");
  EXPECT_EQ(built.last().activation->variables.at("VIRTUAL_ENV"), dir / "one");
  // The index is gone; what was fetched is here.
  index.reset();
  const Told again = run({Order::What::build, asked, lock, site("two")});
  ASSERT_TRUE(again.last().activation) << again.all();
  EXPECT_EQ(version_in(*again.last().activation, "outer"), "1.0\n");
}

TEST_P(EnvVenv, AFileThatChangedSinceItWasLockedIsRefused) {
  wheel("inner", "1.0");
  const VenvEnvironment asked = asks_for({"inner"});
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  wheel("inner", "1.0", "other");
  Site another = site("one");  // a node that has not fetched it
  another.cache = dir / "other-cache";
  dir.folder("other-cache");
  const Told built = run({Order::What::build, asked, *solved.last().lock, another});
  ASSERT_TRUE(built.last().failed) << built.log;
  EXPECT_EQ(built.last().failed->code, ErrorCode::corrupt);
  EXPECT_THAT(built.last().failed->message,
              HasSubstr(is_uv() ? "Hash mismatch" : "DO NOT MATCH THE HASHES"));
}

TEST_P(EnvVenv, WhatIsAskedForByAddressIsFetchedFromThere) {
  wheel("inner", "1.0");
  const std::string address = "file://" + (dir / "wheels/inner-1.0-py3-none-any.whl");
  const VenvEnvironment asked{"python3", {"--no-index"}, {"inner @ " + address}, {}};
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  EXPECT_TRUE(solved.last().lock->packages.at(0).direct);
  const Told built = run({Order::What::build, asked, *solved.last().lock, site("one")});
  ASSERT_TRUE(built.last().activation) << built.all();
  EXPECT_EQ(version_in(*built.last().activation, "inner"), "1.0\n");
}

TEST_P(EnvVenv, APasswordIsNotInTheLog) {
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

TEST_P(EnvVenv, AToolThatWasKilledIsNotTheDefinitionsFault) {
  const test::SilentServer silent;
  VenvEnvironment asked{"python3", {"--index-url " + silent.url()}, {"six"}, {}};
  Program program({Order::What::solve, asked, {}, site("solve")}, more);
  const auto pip = [&]() -> int {
    for (const auto& process : io::descendants_of(program.pid())) {
      const auto words = io::read_file("/proc/" + std::to_string(process.pid) + "/cmdline");
      if (words && words->find(is_uv() ? "compile" : "--dry-run") != std::string::npos)
        return process.pid;
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

TEST_P(EnvVenv, WhatCannotBeSolvedIsExplained) {
  const Told told = run({Order::What::solve, asks_for({"no-such-thing"}), {}, site("solve")});
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_EQ(told.last().failed->code, ErrorCode::invalid_argument);
  EXPECT_THAT(told.last().failed->message, HasSubstr("no-such-thing"));
  EXPECT_THAT(told.log, HasSubstr(is_uv() ? "uv pip compile" : "pip install --dry-run"));
}

TEST_P(EnvVenv, AFolderOfPackagesThatThisNodeLacksIsNamed) {
  const std::string folder = dir / "nowhere";
  const VenvEnvironment asked{"python3", {"--no-index", "--find-links " + folder}, {"inner"}, {}};
  const Told told = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_EQ(told.last().failed->code, ErrorCode::not_found);
  EXPECT_THAT(told.last().failed->message,
              HasSubstr("this node has no " + folder + ", which --find-links names"));
}

TEST_P(EnvVenv, WhatTheCompilerSaidOfAPackageIsInTheReport) {
  const std::string package = dir / "bad-1.0";
  ASSERT_TRUE(io::make_directories(package));
  const auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(io::write_file_atomically(package + "/" + name, text, 0644, false));
  };
  write("pyproject.toml",
        "[project]\nname = 'bad'\ndynamic = ['version']\n"
        "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n");
  write("backend.py",
        "import subprocess\n"
        "def build_wheel(directory, config_settings=None, metadata_directory=None):\n"
        "    subprocess.run(['cc', '-c', 'bad.c'], check=True)\n");
  write("bad.c", "#include <nothere/gone.h>\n");
  write("PKG-INFO", "Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n");
  const std::string archive = dir / "bad-1.0.tar.gz";
  const auto packed =
      io::run_program({"tar", "-czf", archive, "-C", dir.path(), "bad-1.0"}, seconds(60));
  ASSERT_TRUE(packed && packed->exit_code == 0);
  const VenvEnvironment asked{"python3", {"--no-index", "--find-links " + dir.path()}, {"bad"}, {}};
  Told told = run({Order::What::solve, asked, {}, site("solve")});
  // uv builds nothing to solve what tells its version.
  if (told.last().lock) told = run({Order::What::build, asked, told.last().lock, site("build")});
  ASSERT_TRUE(told.last().failed) << told.log;
  const std::string& message = told.last().failed->message;
  EXPECT_THAT(message, HasSubstr("bad.c:1:10: fatal error: nothere/gone.h: No such file"));
  EXPECT_EQ(told.last().failed->code, ErrorCode::invalid_argument) << message;
  EXPECT_THAT(told.log, HasSubstr("compilation terminated."));
}

TEST_P(EnvVenv, AnIndexThatIsAwayIsNotTheDefinitionsFault) {
  VenvEnvironment asked{"python3", {"--index-url http://127.0.0.1:9/simple"}, {"six"}, {}};
  const Told told = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(told.last().failed) << told.log;
  EXPECT_EQ(told.last().failed->code, ErrorCode::unavailable);
  EXPECT_THAT(told.last().failed->message,
              HasSubstr("(the index was not reached: http://127.0.0.1:9, "));
}

TEST_P(EnvVenv, AnIndexThatMayNotBeReadIsAMatterOfCredentials) {
  for (const int status : {401, 403}) {
    const HttpServer index(dir.path(), status);
    const VenvEnvironment asked{"python3", {"--index-url " + index.url("simple")}, {"six"}, {}};
    const Told told = run({Order::What::solve, asked, {}, site("solve" + std::to_string(status))});
    ASSERT_TRUE(told.last().failed) << told.log;
    const std::string message = told.last().failed->message;
    EXPECT_THAT(message, HasSubstr("(the index refused access: check its credentials)"));
    EXPECT_THAT(message, Not(HasSubstr("Traceback")));
    EXPECT_EQ(told.last().failed->code, ErrorCode::permission_denied) << status << ": " << message;
  }
}

TEST_P(EnvVenv, AnIndexThatIsOutOfOrderIsNotTheDefinitionsFault) {
  more["UV_HTTP_RETRIES"] = "0";
  more["PIP_RETRIES"] = "1";
  for (const int status : {500, 503}) {
    const HttpServer index(dir.path(), status);
    for (const std::string& asked :
         std::vector<std::string>{"six", "inner @ " + index.url("inner-1.0-py3-none-any.whl")}) {
      const Told told =
          run({Order::What::solve,
               VenvEnvironment{"python3", {"--index-url " + index.url("simple")}, {asked}, {}},
               {},
               site("solve")});
      ASSERT_TRUE(told.last().failed) << told.log;
      EXPECT_EQ(told.last().failed->code, ErrorCode::unavailable)
          << asked << ": " << told.last().failed->message;
    }
  }
}

TEST_P(EnvVenv, AFileThatIsNotThereOrDamagedMayBeMended) {
  dir.file("zeros-1.0-py3-none-any.whl", std::string(2000, '\0'));
  const HttpServer files(dir.path());
  const std::pair<const char*, ErrorCode> cases[] = {{"none", ErrorCode::not_found},
                                                     {"zeros", ErrorCode::corrupt}};
  for (const auto& [name, code] : cases) {
    const std::string address = files.url(fmt::format("{}-1.0-py3-none-any.whl", name));
    const Told told =
        run({Order::What::solve,
             VenvEnvironment{"python3", {}, {fmt::format("{} @ {}", name, address)}, {}},
             {},
             site("solve")});
    ASSERT_TRUE(told.last().failed) << told.log;
    EXPECT_EQ(told.last().failed->code, code) << name << ": " << told.last().failed->message;
  }
}

TEST_P(EnvVenv, TwoThatLackTheSamePackagesFetchThemOnce) {
  wheel("inner", "1.0");
  const VenvEnvironment asked = asks_for({"inner"});
  const Told solved = run({Order::What::solve, asked, {}, site("solve")});
  ASSERT_TRUE(solved.last().lock) << solved.log;
  Program one({Order::What::build, asked, *solved.last().lock, site("one")}, more);
  Program two({Order::What::build, asked, *solved.last().lock, site("two")}, more);
  const Told first = one.wait(), second = two.wait();
  ASSERT_TRUE(first.last().activation) << first.all();
  ASSERT_TRUE(second.last().activation) << second.all();
  if (is_uv()) return;  // it sees to that by itself
  const auto fetches = [](const Told& told) {
    return told.log.find("pip download --no-deps") != std::string::npos;
  };
  EXPECT_NE(fetches(first), fetches(second)) << first.log << second.log;
}

TEST_P(EnvVenv, ToldToStopItLeavesNoProcess) {
  const test::SilentServer silent;
  VenvEnvironment asked{"python3", {"--index-url " + silent.url()}, {"six"}, {}};
  Program program({Order::What::solve, asked, {}, site("solve")}, more);
  // Short ones come and go before the one that waits for the server.
  auto tools = io::descendants_of(program.pid());
  for (int i = 0; i < 6000 && tools.empty(); ++i) {
    ::usleep(10'000);
    tools = io::descendants_of(program.pid());
  }
  EXPECT_FALSE(tools.empty());
  ::kill(program.pid(), SIGTERM);
  const Told told = program.wait();
  ASSERT_FALSE(told.events.empty());
  ASSERT_TRUE(told.last().failed);
  EXPECT_EQ(told.last().failed->code, ErrorCode::conflict);
  for (const auto& tool : tools) EXPECT_FALSE(io::is_alive(tool));
}

}  // namespace
}  // namespace lockstep::envs
