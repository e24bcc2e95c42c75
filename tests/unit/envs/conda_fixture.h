#pragma once
// Tests of conda environments: lockstep-env with the real py-rattler, and channels that a test
// writes (tests/support/conda_channel.py). The tools are installed once for the test program.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/io/programs/run_program.h"
#include "tests/unit/envs/program.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::envs {

// The variables of our environment that pip needs to reach its index.
inline std::map<std::string, std::string> pip_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (is_tool_variable(name) && !name.starts_with("CONDA_"))
      variables[name] = text.substr(name.size() + 1);
  }
  return variables;
}

// Waits until the condition holds; false after a generous deadline.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 6'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class CondaTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (tools() != nullptr) return;
    tools() = std::make_unique<test::TempDir>();
    tools()->folder("cache");
    const Order order{Order::What::solve,
                      CondaEnvironment{},
                      {},
                      {*tools() / "env", *tools() / "cache", false, "linux-64"}};
    const Told told = Program(order, pip_variables()).wait();
    ASSERT_TRUE(told.last().lock) << told.log;
  }
  void SetUp() override {
    dir.folder("cache");
    dir.link(*tools() / "cache/tools", "cache/tools");
  }

  static std::string subdir() {
#if defined(__aarch64__)
    return "linux-aarch64";
#else
    return "linux-64";
#endif
  }
  Site site(const std::string& name, const std::string& virtual_packages = "__glibc=2.36") {
    return {dir / name, dir / "cache", false, subdir() + " " + virtual_packages};
  }
  // Writes a channel; returns an object for each package: {"url", "sha256", "md5", "size"}.
  std::vector<nlohmann::json> channel(const std::string& name, const std::string& packages) {
    dir.file(name + ".json", packages);
    const auto made = io::run_program(
        {"/usr/bin/python3", LOCKSTEP_CONDA_CHANNEL, dir / name, dir / (name + ".json")},
        seconds(60));
    EXPECT_TRUE(made && made->exit_code == 0) << (made ? made->errors : made.error().message);
    std::vector<nlohmann::json> written;
    std::istringstream lines(made ? made->text : "");
    for (std::string line; std::getline(lines, line);)
      written.push_back(nlohmann::json::parse(line));
    return written;
  }
  CondaEnvironment asks_for(std::vector<std::string> dependencies,
                            const std::vector<std::string>& channels = {"channel"}) {
    CondaEnvironment definition;
    for (const std::string& name : channels)
      definition.channels.push_back(name.find(':') == name.npos ? "file://" + (dir / name) : name);
    definition.dependencies = std::move(dependencies);
    return definition;
  }
  Told solve(const CondaEnvironment& definition, const Site& where) {
    return Program({Order::What::solve, definition, {}, where}, more).wait();
  }
  Told solve(const CondaEnvironment& definition) { return solve(definition, site("solve")); }
  Told build(const CondaEnvironment& definition, const Lock& lock, const Site& where) {
    return Program({Order::What::build, definition, lock, where}, more).wait();
  }
  // The solved packages as "alpha 1.0, beta 2.0"; the error if solving failed.
  static std::string versions(const Told& told) {
    if (!told.last().lock)
      return told.last().failed ? "failed: " + told.last().failed->message : "nothing";
    std::string text;
    for (const LockedCondaPackage& package : told.last().lock->conda)
      text += (text.empty() ? "" : ", ") + package.name + " " + package.version;
    return text;
  }
  static void expect_failure(const Told& told, ErrorCode code, const std::string& text) {
    ASSERT_FALSE(told.events.empty()) << told.log;
    ASSERT_TRUE(told.last().failed) << told.log;
    EXPECT_EQ(told.last().failed->code, code) << told.last().failed->message;
    EXPECT_THAT(told.last().failed->message, testing::HasSubstr(text));
    EXPECT_THAT(told.last().failed->message + told.log,
                testing::Not(testing::HasSubstr("Traceback")));
  }

  test::TempDir dir;
  std::map<std::string, std::string> more;  // additional variables for lockstep-env

 private:
  static std::unique_ptr<test::TempDir>& tools() {
    static std::unique_ptr<test::TempDir> all;
    return all;
  }
};

}  // namespace lockstep::envs
