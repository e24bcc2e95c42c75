#pragma once
// Tests of ranks in a container, with the real lockstep-runner, the test program's own Docker
// daemon and an image of busybox.

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "common/domain/why/all/convert.h"
#include "tests/unit/runner/attempt.h"
#include "tests/unit/support/docker_daemon.h"

namespace lockstep::runner::testing {

class ContainerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
#ifdef LOCKSTEP_SPAWN_IS_DYNAMIC
    why_not_ = "needs a static lockstep-spawn";
#else
    why_not_ = test::DockerDaemon::why_not();
#endif
    if (!why_not_.empty()) return;
    daemon_ = std::make_unique<test::DockerDaemon>();
    image_ = daemon_->import_busybox("lockstep-test:1");
  }
  static void TearDownTestSuite() { daemon_.reset(); }

  void SetUp() override {
    if (!daemon_) GTEST_SKIP() << why_not_;
    attempt_.assignment.spec.run_as = "nobody";
    attempt_.workspace.mount_point = io::code_mount_point(attempt_.assignment.attempt.job);
    Activation& activation = attempt_.workspace.activation.emplace();
    activation.variables = {{"PATH", "/bin"}, {"OF_THE_IMAGE", "1"}};
    Container& container = activation.container.emplace();
    container.engine = test::DockerDaemon::client();
    container.image = image_;
    container.shell = "/bin/sh";
    container.limits_memory = true;
    container.variables = {
        {"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"}, {"DOCKER_HOST", daemon_->host()}};
  }
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  Container& container() { return *attempt_.workspace.activation->container; }
  std::string containers() const {
    return daemon_->words({"ps", "--all", "--format", "{{.Names}}"});
  }
  void expect_nothing_left() {
    EXPECT_TRUE(attempt_.survivors().empty());
    EXPECT_EQ(containers(), "");
    EXPECT_FALSE(io::exists(attempt_.directory().path() + "/control.sock"));
    EXPECT_FALSE(io::exists(attempt_.directory().container() + "/spawn.sock"));
    EXPECT_FALSE(io::exists(attempt_.workspace.mount_point)) << "nothing is mounted on the host";
  }
  NodeExitReport run_to_end() {
    EXPECT_EQ(attempt_.run(), 0);
    expect_nothing_left();
    return attempt_.report();
  }
  std::string output() {
    const auto report = run_to_end();
    EXPECT_EQ(report.cause, Cause::completed) << log_text(report.why) << attempt_.err();
    return attempt_.out();
  }
  void expect_start_failed(const std::string& part) {
    const auto report = run_to_end();
    EXPECT_EQ(report.cause, Cause::start_failed);
    EXPECT_NE(log_text(report.why).find(part), std::string::npos) << log_text(report.why);
  }
  void stop() {
    FakeAgent agent(attempt_);
    attempt_.assignment.phase = WantedPhase::stop;
    agent.send(attempt_.assignment);
    EXPECT_EQ(attempt_.wait(), 0);
    expect_nothing_left();
    EXPECT_EQ(attempt_.report().cause, Cause::canceled);
  }

  static inline std::unique_ptr<test::DockerDaemon> daemon_;
  static inline std::string why_not_, image_;
  Attempt attempt_;
};

}  // namespace lockstep::runner::testing
