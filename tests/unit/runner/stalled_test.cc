// What a runner waits for may never come: a container's engine that hangs, a PMIx library that does
// not answer. Meanwhile it hears its agent, and a job that is canceled ends.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <string>

#include "common/domain/why/all/convert.h"
#include "common/io/process.h"
#include "runner/container/container.h"
#include "runner/container/words.h"
#include "tests/unit/runner/attempt.h"

namespace lockstep::runner::testing {
namespace {

using Steady = std::chrono::steady_clock;

constexpr auto kAnswersWithin = std::chrono::seconds(1);
constexpr auto kPmixTimeout = std::chrono::seconds(10);  // of the runner, for one operation

class StalledTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (HasFailure()) std::fprintf(stderr, "runner.log:\n%s\n", attempt_.runner_log().c_str());
  }
  void expect_that_it_answers() {
    const auto asked = Steady::now();
    FakeAgent agent(attempt_);
    EXPECT_TRUE(agent.next_report());
    EXPECT_LT(Steady::now() - asked, kAnswersWithin);
  }
  void cancel() {
    agent_ = std::make_unique<FakeAgent>(attempt_);
    attempt_.assignment.phase = WantedPhase::stop;
    agent_->send(attempt_.assignment);
  }

  TemporaryDirectory folder_;
  Attempt attempt_;
  std::unique_ptr<FakeAgent> agent_;
};

// ---- PMIx

class StalledPmixTest : public StalledTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void start(const std::string& how) {
    attempt_.assignment.spec.distribution.kind = Distribution::Kind::mpi;
    attempt_.ranks(2).shell("echo never");
    attempt_.runner_variables = {{"LD_PRELOAD", LOCKSTEP_STALLED_PMIX},
                                 {"LOCKSTEP_TEST_PMIX", how},
                                 {"LOCKSTEP_TEST_PMIX_STALLED", stalled_},
                                 {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
    attempt_.start();
    ASSERT_TRUE(wait_until([this] { return io::exists(stalled_); })) << attempt_.runner_log();
    since_ = Steady::now();
  }

  const std::string stalled_ = folder_.path() + "/stalled";
  Steady::time_point since_;
};

TEST_P(StalledPmixTest, TheAgentIsAnsweredAndACancelGoesThrough) {
  start(GetParam());
  expect_that_it_answers();
  cancel();
  ASSERT_TRUE(wait_until([this] { return attempt_.has_report(); }));
  EXPECT_LT(Steady::now() - since_, kPmixTimeout) << "it waited for the library";
  EXPECT_EQ(attempt_.wait(), 0);
  const auto report = attempt_.report();
  EXPECT_EQ(report.cause, Cause::canceled) << log_text(report.why);
  for (const RankExit& rank : report.ranks) EXPECT_FALSE(rank.started) << rank.rank;
  EXPECT_TRUE(attempt_.survivors().empty());
}

INSTANTIATE_TEST_SUITE_P(Ways, StalledPmixTest,
                         ::testing::Values("silent_job", "hanging_job", "hanging_rank"),
                         [](const auto& way) { return std::string(way.param); });

TEST_F(StalledPmixTest, AnOperationThatIsNotAnsweredInTimeFailsTheStart) {
  start("hanging_job");
  EXPECT_EQ(attempt_.wait(), 0);
  const auto report = attempt_.report();
  EXPECT_EQ(report.cause, Cause::start_failed);
  EXPECT_NE(log_text(report.why).find("PMIx did not answer within 10.0s"), std::string::npos)
      << log_text(report.why);
}

// ---- a container's engine

class StalledEngineTest : public StalledTest {
 protected:
  // Every task of the engine hangs, but what `run` does.
  void engine(const std::string& run) {
    attempt_.workspace.mount_point.clear();
    Container& container = attempt_.workspace.activation.emplace().container.emplace();
    container.engine = folder_.path() + "/engine";
    container.image = "an image";
    container.shell = "/bin/sh";
    container.variables = {{"PATH", "/usr/bin:/bin"}};
    ASSERT_TRUE(io::write_file_atomically(container.engine,
                                          "#!/bin/sh\nif [ $1 = run ]; then echo $$ > " + pid_ +
                                              "; " + run + "; fi\nexec sleep 1000\n",
                                          0755));
  }
  void await_engine() {
    ASSERT_TRUE(wait_until([this] { return !io::read_file(pid_).value_or("").empty(); }));
  }

  const std::string pid_ = folder_.path() + "/pid";
};

TEST_F(StalledEngineTest, TheAgentIsAnsweredAndACancelGoesThrough) {
  engine("exec sleep 1000");
  attempt_.assignment.grace = milliseconds(100);
  attempt_.shell("echo never");
  attempt_.start();
  await_engine();
  expect_that_it_answers();
  cancel();
  // Its ranks are ended by then, and the engine is asked to remove the container.
  ASSERT_TRUE(wait_until(
      [this] { return attempt_.runner_log().find("the end: canceled") != std::string::npos; }));
  expect_that_it_answers();
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::canceled) << log_text(attempt_.report().why);
  EXPECT_NE(attempt_.runner_log().find("could not be removed"), std::string::npos);
}

// Its lockstep-spawn is killed from outside; what the container may have left is to be removed.
TEST_F(StalledEngineTest, AContainerThatCannotBeRemovedHoldsUpTheEndForAWhileOnly) {
  engine("exec " + std::string(LOCKSTEP_BIN_DIR) + "/lockstep-spawn --connect " +
         attempt_.directory().container() + "/" + kSocketName);
  attempt_.shell("echo up; exec sleep 1000");
  attempt_.start();
  await_engine();
  ASSERT_TRUE(attempt_.printed("up"));
  ASSERT_TRUE(FakeAgent(attempt_).report_in(PartState::running)) << "the runner knows that too";
  kill(std::stoi(io::read_file(pid_).value_or("0")), SIGKILL);
  ASSERT_TRUE(wait_until([this] {
    return attempt_.runner_log().find("lockstep-spawn is gone") != std::string::npos;
  }));
  expect_that_it_answers();
  EXPECT_EQ(attempt_.wait(), 0);
  EXPECT_EQ(attempt_.report().cause, Cause::runner_lost) << log_text(attempt_.report().why);
  EXPECT_NE(attempt_.runner_log().find("has not removed the container"), std::string::npos);
}

}  // namespace
}  // namespace lockstep::runner::testing
