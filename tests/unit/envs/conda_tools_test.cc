// What conda environments need beside conda's packages: the tools that lockstep-env installs, and
// pip on top.

#include <signal.h>

#include "common/io/programs/process_table.h"
#include "tests/unit/envs/conda_fixture.h"

namespace lockstep::envs {
namespace {

using testing::HasSubstr;

// The first line that python3 prints.
std::string python_says(const std::string& script) {
  const auto said = io::run_program({"/usr/bin/python3", "-c", script}, seconds(30));
  return said ? said->text.substr(0, said->text.find('\n')) : "";
}

class CondaPip : public CondaTest {
 protected:
  void SetUp() override {
    CondaTest::SetUp();
    dir.folder("wheels");
    version = python_says("import platform; print(platform.python_version())");
    const std::string pip = python_says(
        "import ensurepip, glob, os\n"
        "own = os.path.dirname(ensurepip.__file__) + '/_bundled'\n"
        "print(sorted(glob.glob('/usr/share/python-wheels/pip-*') + glob.glob(own + "
        "'/pip-*'))[0])");
    write_wheel(dir / "wheels", "inner", "1.0");
    write_wheel(dir / "wheels", "outer", "1.0", "inner");
    // No real Python of conda's can be had here: the node's, in the form of a virtual environment.
    using nlohmann::json;
    const json python{
        {"name", "python"},
        {"version", version},
        {"files",
         {{"bin/python", {{"link", "/usr/bin/python3"}}},
          {"pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n"}}}};
    const json pip_package{{"name", "pip"},
                           {"version", "23"},
                           {"noarch", "python"},
                           {"depends", {"python"}},
                           {"wheel", pip}};
    const json inner{{"name", "inner"},
                     {"version", "1.0"},
                     {"noarch", "python"},
                     {"depends", {"python"}},
                     {"wheel", dir / "wheels/inner-1.0-py3-none-any.whl"}};
    channel("channel", json{python, pip_package, inner}.dump());
  }
  CondaEnvironment asks_for_pip(std::vector<std::string> dependencies,
                                std::vector<std::string> requirements) {
    CondaEnvironment asked = asks_for(std::move(dependencies));
    asked.options = {"--no-index", "--find-links " + (dir / "wheels")};
    asked.requirements = std::move(requirements);
    return asked;
  }
  std::string version;
};

TEST_F(CondaPip, ItsPackagesComeOnTopOfCondas) {
  const CondaEnvironment asked = asks_for_pip({"python", "pip", "inner"}, {"outer"});
  const Told solved = solve(asked);
  ASSERT_TRUE(solved.last().lock) << solved.log;
  const Lock lock = *solved.last().lock;
  ASSERT_EQ(lock.packages.size(), 1U) << solved.log;  // conda has `inner` already
  EXPECT_EQ(lock.packages[0].name, "outer");
  EXPECT_THAT(solved.log, HasSubstr("  outer 1.0 (pip)\n"));
  const Told built = build(asked, lock, site("one"));
  ASSERT_TRUE(built.last().activation) << built.all();
  const Activation& got = *built.last().activation;
  EXPECT_EQ(got.interpreter, dir / "one/bin/python");
  EXPECT_EQ(got.version, version);
  const auto said = io::run_program(
      {got.interpreter, "-c", "import inner, outer; print(inner.VERSION, outer.__file__)"},
      seconds(30));
  ASSERT_TRUE(said);
  EXPECT_THAT(said->text, testing::StartsWith("1.0 " + (dir / "one/lib/python"))) << said->errors;

  // What pip installs is held to its hash too.
  ASSERT_TRUE(io::remove_tree(dir / "cache/wheels"));
  write_wheel(dir / "wheels", "outer", "1.0", "inner,other");
  expect_failure(build(asked, lock, site("two")), ErrorCode::corrupt, "DO NOT MATCH THE HASHES");
}

TEST_F(CondaPip, NeedsCondasPythonAndPip) {
  expect_failure(solve(asks_for_pip({"python"}, {"outer"})), ErrorCode::invalid_argument,
                 "no conda package 'pip' to install them with; add `python` and `pip`");
}

TEST_F(CondaPip, WhatPipCannotSolveIsExplained) {
  expect_failure(solve(asks_for_pip({"python", "pip"}, {"no-such-thing"})),
                 ErrorCode::invalid_argument, "no-such-thing");
}

// With a cache of its own, without the tools.
class CondaTools : public CondaTest {
 protected:
  void SetUp() override {
    dir.folder("cache");
    more = pip_variables();
  }
  CondaEnvironment nothing;
};

TEST_F(CondaTools, ThatCannotBeHadAreNamedWithWhatToDo) {
  more["PIP_INDEX_URL"] = "http://127.0.0.1:9/simple";
  more["PIP_NO_INDEX"] = "0";
  more["PIP_RETRIES"] = "1";
  more.erase("PIP_FIND_LINKS");
  expect_failure(solve(nothing), ErrorCode::unavailable, "set PIP_INDEX_URL for the agent");
  more["PATH"] = dir / "empty";
  const Told bare = solve(nothing);
  expect_failure(bare, ErrorCode::unavailable, "there is no python3 on PATH");
  EXPECT_THAT(bare.last().failed->message, HasSubstr("and python3 3.10 or newer"));
}

TEST_F(CondaTools, WhoseInstallationWasKilledAreInstalledAgainAndOnceForTwo) {
  const Order order{Order::What::solve, nothing, {}, site("first")};
  {
    Program killed(order, more);
    const auto has_begun = [&] {
      const auto names = io::list_directory(dir / "cache/tools");
      return names && std::any_of(names->begin(), names->end(),
                                  [](const auto& name) { return name.starts_with("making-"); });
    };
    for (int i = 0; i < 6000 && !has_begun(); ++i) ::usleep(10'000);
    ASSERT_TRUE(has_begun());
    const auto tools = io::descendants_of(killed.pid());
    ::kill(killed.pid(), SIGKILL);
    for (const auto& tool : tools) ::kill(tool.pid, SIGKILL);  // as the agent does
    killed.wait();
  }
  EXPECT_FALSE(io::exists(dir / "cache/tools/rattler-0.28.0"));
  Program one({Order::What::solve, nothing, {}, site("one")}, more);
  Program two({Order::What::solve, nothing, {}, site("two")}, more);
  const Told first = one.wait(), second = two.wait();
  EXPECT_TRUE(first.last().lock) << first.log;
  EXPECT_TRUE(second.last().lock) << second.log;
  const auto made = [](const Told& told) {
    return told.log.find("once for this node") != std::string::npos;
  };
  EXPECT_NE(made(first), made(second)) << first.log << second.log;
  const Told& maker = made(first) ? first : second;
  const bool tells = std::any_of(maker.events.begin(), maker.events.end(), [](const Event& event) {
    return event.progress == "starting py-rattler==0.28.0";  // not what pip said last
  });
  EXPECT_TRUE(tells) << maker.log;
  EXPECT_THAT(*io::list_directory(dir / "cache/tools"),
              testing::ElementsAre("rattler-0.28.0", "rattler-0.28.0.lock"));
}

}  // namespace
}  // namespace lockstep::envs
