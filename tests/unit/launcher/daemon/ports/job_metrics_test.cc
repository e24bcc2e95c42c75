// Numbers that ranks print, from their logs into the answer to a question.

#include "launcher/daemon/ports/job_metrics.h"

#include <gmock/gmock.h>

#include <chrono>

#include "launcher/logs/log_store.h"
#include "tests/unit/launcher/archive/facts.h"
#include "tests/unit/support/temp_dir.h"

namespace lockstep::launcher {
namespace {

using archive::at_second;
using testing::SizeIs;

class JobMetricsTest : public testing::Test {
 protected:
  JobMetricsTest() {
    archive::Life life{"job"};
    JobSpec spec = archive::spec_of(life);
    spec.metric_lines = {{"loss", "loss=(?P<value>\\S+)"}};
    apply({archive::node_joins(), {at_second(10), JobSubmitted{JobId("job"), "s", spec, 0, 0}}});
    attempt_ = archive::attempt_of(life);
    apply({attempt_[0], attempt_[1]});
    start();
  }
  void start() {
    metrics_.reset();
    metrics_.emplace(loop_, state_, dir_ / "metrics.db", dir_ / "logs");
    metrics_->begin();
  }
  void apply(const std::vector<StampedFact>& facts) {
    for (const StampedFact& fact : facts) state_.apply(fact.at, fact.fact);
  }
  void print(const std::string& text, int rank = 0, LogStream stream = LogStream::out) {
    const LogKey log{AttemptId{JobId("job"), 1, 0}, rank, stream};
    std::uint64_t& size = sizes_[log];
    const auto extent = logs_.append(log, size, text);
    ASSERT_TRUE(extent) << extent.error().message;
    size += text.size();
    metrics_->grew(log);
  }
  MetricsReply ask(const std::string& name = "") {
    std::optional<ClientReply> reply;
    GetMetrics question;
    question.job = JobId("job");
    question.name = name;
    metrics_->get(question, [&](ClientReply answer) { reply = std::move(answer); });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!reply && std::chrono::steady_clock::now() < end) loop_.turn(milliseconds(10));
    EXPECT_TRUE(reply && std::holds_alternative<MetricsReply>(*reply));
    return reply ? std::get<MetricsReply>(*reply) : MetricsReply();
  }
  // The curves of the metric once so many points are there.
  MetricsReply wait_for(std::uint64_t points, const std::string& name = "loss") {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      metrics_->turn_end(at_second(100));
      MetricsReply reply = ask(name);
      std::uint64_t count = 0;
      for (const auto& curve : reply.curves) count += curve.points;
      if (count >= points || std::chrono::steady_clock::now() > end) {
        EXPECT_EQ(count, points);
        return reply;
      }
    }
  }

  const test::TempDir dir_;
  io::EventLoop loop_;
  State state_;
  std::vector<StampedFact> attempt_;
  LogStore logs_{dir_ / "logs"};
  std::map<LogKey, std::uint64_t> sizes_;
  std::optional<JobMetrics> metrics_;
};

TEST_F(JobMetricsTest, WhatRanksPrintBecomesCurves) {
  print("starting\nloss=0.5\nloss=0.");
  print("25\nloss=nan\n");
  print("loss=7\n", 1, LogStream::err);
  const MetricsReply reply = wait_for(4);
  ASSERT_THAT(reply.curves, SizeIs(2));
  EXPECT_EQ(reply.curves[0].series.rank, 0);
  EXPECT_EQ(reply.curves[0].points, 3u);
  ASSERT_THAT(reply.metrics, SizeIs(1));
  EXPECT_EQ(reply.metrics[0].name, "loss");
  EXPECT_EQ(reply.metrics[0].least, 0.25);
  EXPECT_EQ(reply.metrics[0].greatest, 7);
}

TEST_F(JobMetricsTest, TheLatestOfManyJobsAreOneAnswer) {
  print("loss=0.5\nloss=0.25\n");
  wait_for(2);
  std::optional<ClientReply> reply;
  metrics_->latest({{JobId("job"), JobId("other")}, {"loss", "accuracy"}},
                   [&](ClientReply answer) { reply = std::move(answer); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!reply && std::chrono::steady_clock::now() < end) loop_.turn(milliseconds(10));
  ASSERT_TRUE(reply && std::holds_alternative<LatestReply>(*reply));
  const LatestReply& latest = std::get<LatestReply>(*reply);
  ASSERT_EQ(latest.jobs.size(), 1u);
  ASSERT_THAT(latest.jobs.at(JobId("job")), SizeIs(1));
  EXPECT_EQ(latest.jobs.at(JobId("job"))[0].last.value, 0.25);
}

TEST_F(JobMetricsTest, ARestartGoesOnWhereItWasAndDoublesNothing) {
  print("loss=1\nloss=2\nloss=3");
  wait_for(2);
  start();
  print("3\nloss=4\n");
  const MetricsReply reply = wait_for(4);
  ASSERT_THAT(reply.curves, SizeIs(1));
  EXPECT_EQ(reply.metrics.at(0).last.value, 4);
  EXPECT_EQ(reply.metrics.at(0).last.step, 3) << "steps are counted over the restart";
}

TEST_F(JobMetricsTest, TheLastLineOfAJobThatEndedNeedsNoNewline) {
  print("loss=1\nloss=2");
  wait_for(1);
  apply({attempt_[2], attempt_[3], attempt_[4]});
  apply({{at_second(30), JobFinished{JobId("job"), JobStatus::completed, {}}}});
  metrics_->perform(JobChanged{JobId("job")});
  wait_for(2);
  metrics_->perform(JobChanged{JobId("job")});
  start();
  wait_for(2);
}

TEST_F(JobMetricsTest, ADeletedJobHasNone) {
  print("loss=1\n");
  wait_for(1);
  ForgetJob forget;
  forget.job = JobId("job");
  metrics_->perform(forget);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!ask().metrics.empty() && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_THAT(ask().metrics, SizeIs(0));
}

TEST_F(JobMetricsTest, AJobThatLoggedNothingHasNone) {
  EXPECT_EQ(ask(), MetricsReply());
  EXPECT_EQ(ask("loss"), MetricsReply());
}

}  // namespace
}  // namespace lockstep::launcher
