#include "launcher/cli/follow/state_lines.h"

#include <gtest/gtest.h>

#include "launcher/cli/terminal/paced_lines.h"

namespace lockstep::cli {
namespace {

constexpr Instant kStart{1'000'000'000'000};

JobView job(JobStatus status, std::string reason = "", std::size_t attempts = 1) {
  JobView job;
  job.spec.name = "j";
  job.status = status;
  job.reason = std::move(reason);
  job.attempts.resize(attempts);
  return job;
}

// Feeds states at times, and looks every 10 ms as a loop does.
class Watch {
 public:
  void see(Duration at, const JobView& view) {
    pass_to(kStart + at);
    lines_.on_job(view, now_);
    look();
  }
  void pass_to(Instant end) {
    for (; now_ < end; now_ = now_ + milliseconds(10)) look();
    now_ = end;
  }
  void pass(Duration time) { pass_to(now_ + time); }
  std::vector<std::string> said;

 private:
  void look() {
    if (const auto line = lines_.take(now_)) said.push_back(*line);
  }
  StateLines lines_;
  Instant now_ = kStart;
};

using Lines = std::vector<std::string>;

TEST(StateLines, ATrivialJobIsNotWorthALine) {
  Watch watch;
  watch.see(seconds(0), job(JobStatus::preparing, "node n: the node has not answered yet"));
  watch.see(milliseconds(200), job(JobStatus::preparing, "node n: staging"));
  watch.see(milliseconds(400), job(JobStatus::running));
  watch.see(milliseconds(900), job(JobStatus::finalizing));
  watch.see(milliseconds(1100), job(JobStatus::completed));
  watch.pass(seconds(5));
  EXPECT_EQ(watch.said, Lines{});
}

TEST(StateLines, WhatLastsIsSaidOnce) {
  Watch watch;
  watch.see(seconds(0), job(JobStatus::preparing, "node n: staging"));
  watch.see(milliseconds(300), job(JobStatus::running));
  watch.pass(milliseconds(990));
  EXPECT_EQ(watch.said, Lines{});
  watch.pass(seconds(20));
  EXPECT_EQ(watch.said, Lines{"j: Running"});
}

TEST(StateLines, AWaitAndItsEndAreSaid) {
  Watch watch;
  watch.see(seconds(0), job(JobStatus::queued, "waits for 2 nodes", 0));
  watch.see(seconds(5), job(JobStatus::queued, "waits for 1 node", 0));
  watch.see(seconds(8), job(JobStatus::preparing, "node n: staging"));
  watch.see(milliseconds(8200), job(JobStatus::running));
  EXPECT_EQ(watch.said,
            (Lines{"j: Queued (waits for 2 nodes)", "j: Queued (waits for 1 node)", "j: Running"}));
}

TEST(StateLines, AReasonThatChangesAllTheTimeIsSaidNowAndThen) {
  Watch watch;
  for (int i = 0; i < 250; ++i)
    watch.see(milliseconds(100 * i), job(JobStatus::preparing, "file " + std::to_string(i)));
  EXPECT_EQ(watch.said, (Lines{"j: Preparing (file 10)", "j: Preparing (file 110)",
                               "j: Preparing (file 210)"}));
}

TEST(StateLines, ARetryIsAlwaysSaid) {
  Watch watch;
  watch.see(seconds(0), job(JobStatus::running));
  watch.see(milliseconds(100), job(JobStatus::queued, "the runner died; waits"));
  watch.see(milliseconds(200), job(JobStatus::preparing, "the runner died", 2));
  watch.see(milliseconds(300), job(JobStatus::running, "", 2));
  EXPECT_EQ(watch.said,
            (Lines{"j: Preparing, attempt 2 (the runner died)", "j: Running, attempt 2"}));
}

JobView second_attempt(JobStatus status, std::string reason) {
  JobView view = job(status, std::move(reason), 2);
  view.attempts[0].number = 1;
  view.attempts[0].retried = "rank 0 exited with code 3:\nboom; retry 1 of 3";
  return view;
}

TEST(StateLines, ARetrySaysItsCauseAlsoWhenTheBackOffIsTooShortForALine) {
  Watch watch;
  watch.see(seconds(0), job(JobStatus::running));
  watch.see(milliseconds(100), job(JobStatus::queued, "exit code 3; retry 1 of 3 in 1s"));
  watch.see(milliseconds(1099), second_attempt(JobStatus::preparing, "node n: staging"));
  watch.see(milliseconds(1300), second_attempt(JobStatus::running, ""));
  EXPECT_EQ(watch.said, (Lines{"j: Preparing, attempt 2 (node n: staging); attempt 1 ended: rank 0 "
                               "exited with code 3: boom; retry 1 of 3",
                               "j: Running, attempt 2"}));
}

TEST(StateLines, ACauseThatIsTheSameAgainIsNotRepeated) {
  Watch watch;
  JobView view = second_attempt(JobStatus::running, "");
  view.attempts[0].report.emplace().message = "no container engine";
  view.attempts[0].report->why = told("no container engine");
  watch.see(seconds(0), view);
  view.attempts[1] = view.attempts[0];
  view.attempts[1].number = 2;
  view.attempts.emplace_back().number = 3;
  view.status = JobStatus::preparing;
  watch.see(milliseconds(500), view);
  EXPECT_EQ(watch.said, Lines{"j: Preparing, attempt 3; attempt 2 ended like attempt 1"});
}

TEST(StateLines, ACauseThatTheWaitHasToldIsNotRepeated) {
  Watch watch;
  watch.see(seconds(0), job(JobStatus::running));
  watch.see(milliseconds(100), job(JobStatus::queued, "exit code 3; retry 1 of 3 in 4s"));
  watch.see(seconds(4), second_attempt(JobStatus::preparing, ""));
  EXPECT_EQ(watch.said,
            (Lines{"j: Queued (exit code 3; retry 1 of 3 in 4s)", "j: Preparing, attempt 2"}));
}

TEST(PacedLines, OneAfterFiveSecondsAndThenOneInTen) {
  PacedLines lines(kStart);
  std::vector<int> said;
  for (int second = 0; second < 30; ++second)
    if (lines.take(kStart + seconds(second))) said.push_back(second);
  EXPECT_EQ(said, (std::vector<int>{5, 15, 25}));
}

TEST(StateText, IsOneLine) {
  EXPECT_EQ(state_text(job(JobStatus::queued, "it failed:\nwhy\n; retry 1 of 3", 2)),
            "j: Queued, attempt 2 (it failed: why ; retry 1 of 3)");
}

}  // namespace
}  // namespace lockstep::cli
