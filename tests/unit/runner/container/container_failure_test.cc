// Containers that do not start, are taken away, or are frozen: what is told of them, and that the
// job ends.

#include <signal.h>

#include "common/domain/why/all/convert.h"
#include "common/io/process.h"
#include "tests/unit/runner/container/container_fixture.h"

namespace lockstep::runner::testing {
namespace {

TEST_F(ContainerTest, AnImageThatIsNotThereIsSaid) {
  container().image = "sha256:" + std::string(64, 'a');
  attempt_.shell("echo never");
  expect_start_failed("No such image: sha256:aaaa");
}

TEST_F(ContainerTest, WhatTheEngineRefusesIsTheJobsFault) {
  attempt_.assignment.spec.environment.emplace().definition = DockerEnvironment{"x:1", {}, {}};
  attempt_.assignment.spec.resources.docker_args = {"--cap-drop", "BOGUS"};
  attempt_.assignment.node_rank = 0;
  const std::string log = attempt_.directory().log(0, LogStream::environment);
  ASSERT_TRUE(io::make_directories(attempt_.directory().logs()));
  ASSERT_TRUE(io::write_file_atomically(log, "how it was made\n"));
  attempt_.shell("echo never");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::environment_failed);
  EXPECT_NE(log_text(report.why).find("resources.docker_args: "), std::string::npos)
      << log_text(report.why);
  EXPECT_NE(log_text(report.why).find("unknown capability: \"CAP_BOGUS\""), std::string::npos);
  const std::string text = io::read_file(log).value_or("");
  EXPECT_EQ(text.find("how it was made\n"), 0U);
  EXPECT_NE(text.find("docker: Error response from daemon"), std::string::npos) << text;
  EXPECT_NE(text.find("failed: " + log_text(report.why)), std::string::npos) << text;
  EXPECT_EQ(report.logs.back(), (LogSize{0, 0, 0, text.size()})) << "the launcher waits for it";
}

TEST_F(ContainerTest, AnEngineThatIsNotThereIsSaid) {
  container().engine = "/nonexistent/docker";
  attempt_.shell("echo never");
  expect_start_failed("cannot start /nonexistent/docker: No such file or directory");
}

TEST_F(ContainerTest, ADaemonThatIsNotThereIsSaid) {
  container().variables["DOCKER_HOST"] = "unix:///nonexistent/docker.sock";
  attempt_.shell("echo never");
  expect_start_failed("Cannot connect to the Docker daemon at unix:///nonexistent/docker.sock");
}

TEST_F(ContainerTest, AnImageWithoutAShellRunsWordsAlone) {
  container().image = daemon_->import_busybox("lockstep-test:no-shell", false);
  container().shell = "";
  attempt_.shell("echo never");
  const auto report = run_to_end();
  EXPECT_EQ(report.cause, Cause::start_failed);
  EXPECT_NE(log_text(report.why).find("the image has no shell (/bin/bash, /bin/sh)"),
            std::string::npos)
      << log_text(report.why);
  Attempt other;
  other.workspace = attempt_.workspace;
  other.assignment.spec.run_as = "nobody";
  other.argv({"echo", "words"});
  EXPECT_EQ(other.run(), 0);
  EXPECT_EQ(other.out(), "words\n");
}

TEST_F(ContainerTest, AJobThatIsCanceledBeforeItsContainerIsUpEnds) {
  TemporaryDirectory folder;
  const std::string engine = folder.path() + "/engine", pid = folder.path() + "/pid";
  ASSERT_TRUE(io::write_file_atomically(engine,
                                        "#!/bin/sh\nif [ $1 = run ]; then echo $$ > " + pid +
                                            "; exec sleep 1000; fi\nkill $(cat " + pid + ")\n",
                                        0755));
  container().engine = engine;
  attempt_.assignment.grace = milliseconds(100);
  attempt_.shell("echo never");
  attempt_.start();
  ASSERT_TRUE(wait_until([&] { return !io::read_file(pid).value_or("").empty(); }));
  stop();
}

TEST_F(ContainerTest, AContainerKilledFromOutsideIsTheRunnersLoss) {
  attempt_.shell("echo up; exec sleep 1000");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  ASSERT_TRUE(wait_until([this] { return io::exists(attempt_.directory().started()); }));
  daemon_->words({"kill", containers()});
  EXPECT_EQ(attempt_.wait(), 0);
  expect_nothing_left();
  EXPECT_EQ(attempt_.report().cause, Cause::runner_lost) << log_text(attempt_.report().why);
}

// docker pause: no signal reaches what is frozen.
TEST_F(ContainerTest, APausedContainerHearsThatItIsStopped) {
  attempt_.assignment.grace = minutes(5);
  attempt_.shell("trap 'echo saved; exit 3' TERM; echo up; while :; do sleep 0.01; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  daemon_->words({"pause", containers()});
  stop();
  EXPECT_EQ(attempt_.out(), "up\nsaved\n");
  EXPECT_EQ(attempt_.report().ranks.at(0).exit_code, 3);
}

// Where the engine cannot let it go on, or not in time.
TEST_F(ContainerTest, APausedContainerIsKilled) {
  TemporaryDirectory folder;
  const std::string engine = folder.path() + "/engine";
  ASSERT_TRUE(io::write_file_atomically(
      engine, "#!/bin/sh\n[ $1 = unpause ] || exec " + container().engine + " \"$@\"\n", 0755));
  container().engine = engine;
  attempt_.assignment.grace = milliseconds(100);
  attempt_.shell("echo up; while :; do sleep 0.01; done");
  attempt_.start();
  ASSERT_TRUE(attempt_.printed("up"));
  daemon_->words({"pause", containers()});
  stop();
}

// Whoever hears of the end finds no container: the final report waits for it.
TEST_F(ContainerTest, AJobEndsWhenItsContainerIsGone) {
  attempt_.argv({"true"});
  attempt_.start();
  ASSERT_TRUE(wait_until([&] { return attempt_.has_report(); }));
  EXPECT_EQ(containers(), "");
  EXPECT_EQ(attempt_.wait(), 0);
}

}  // namespace
}  // namespace lockstep::runner::testing
