// The logs and states of a pipeline's steps: whose turn it is, which lines are said, and the whole
// against a fake launcher over real sockets, whatever breaks.

#include "launcher/cli/follow/pipeline_follower.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/follow/step_lines.h"
#include "launcher/cli/follow/step_logs.h"
#include "tests/unit/launcher/cli/fake_pipeline.h"
#include "tests/unit/launcher/cli/pipeline_samples.h"

namespace lockstep::cli {
namespace {

// ---- whose turn it is ---------------------------------------------------------------------------

std::vector<StepView> running(int count) {
  std::vector<StepView> steps;
  for (int i = 0; i < count; ++i)
    steps.push_back(sample_step("s" + std::to_string(i), StepPhase::running));
  return steps;
}

TEST(StepLogs, AsksThoseThatHaveLogs) {
  StepLogs logs(StepLogs::Ask::on);
  auto steps = sample_pipeline().steps;
  steps.push_back(sample_step("queued", StepPhase::running));
  steps.back().status = JobStatus::queued;
  steps.back().started = {};
  logs.on_steps(steps, kNoon);
  EXPECT_EQ(logs.next(kNoon), JobId("p_nested_train"));
  logs.answered(JobId("p_nested_train"), {true, false, false}, kNoon);
  EXPECT_EQ(logs.next(kNoon), JobId("p_check"));
  logs.answered(JobId("p_check"), {true, false, true}, kNoon);
  EXPECT_TRUE(logs.is_read(JobId("p_check")));
  EXPECT_TRUE(logs.is_read(JobId("old_prepare"))) << "reused: its logs are another pipeline's";
  EXPECT_EQ(logs.next(kNoon), std::nullopt);
  EXPECT_EQ(logs.next_deadline(), kNoon + StepLogs::kSoonest);
  EXPECT_FALSE(logs.all_read());
}

TEST(StepLogs, AStepThatWritesMuchTakesTurnsWithTheOthers) {
  StepLogs logs(StepLogs::Ask::on);
  logs.on_steps(running(2), kNoon);
  logs.answered(JobId("p_s0"), {true, true, false}, kNoon + milliseconds(1));
  EXPECT_EQ(logs.next(kNoon + milliseconds(1)), JobId("p_s1"));
  logs.answered(JobId("p_s1"), {true, true, false}, kNoon + milliseconds(2));
  EXPECT_EQ(logs.next(kNoon + milliseconds(2)), JobId("p_s0"));
}

TEST(StepLogs, AQuietStepIsAskedLessOftenUntilItEnds) {
  StepLogs logs(StepLogs::Ask::on);
  auto steps = running(1);
  logs.on_steps(steps, kNoon);
  Instant now = kNoon;
  for (int i = 0; i < 10; ++i) {
    logs.answered(JobId("p_s0"), {false, false, false}, now);
    now = logs.next_deadline();
  }
  logs.answered(JobId("p_s0"), {false, false, false}, now);
  EXPECT_EQ(logs.next_deadline(), now + StepLogs::kLatest);
  steps[0] = sample_step("s0", StepPhase::completed);
  logs.on_steps(steps, now);
  EXPECT_EQ(logs.next(now), JobId("p_s0"));
}

TEST(StepLogs, AThousandStepsAreAskedTwoHundredTimesASecond) {
  StepLogs logs(StepLogs::Ask::on);
  logs.on_steps(running(1'000), kNoon);
  int asked = 0;
  for (Instant now = kNoon; now < kNoon + seconds(25); now = logs.next_deadline())
    for (; const auto step = logs.next(now); ++asked)
      logs.answered(*step, {true, false, false}, now);
  EXPECT_GE(asked, 5'000);
  EXPECT_LE(asked, 6'000);
}

TEST(StepLogs, OnceIsOnce) {
  StepLogs logs(StepLogs::Ask::once);
  logs.on_steps(running(1), kNoon);
  logs.answered(JobId("p_s0"), {true, true, false}, kNoon);
  EXPECT_FALSE(logs.all_read());
  logs.answered(JobId("p_s0"), {true, false, false}, kNoon);
  EXPECT_TRUE(logs.all_read());
}

TEST(StepLogs, ReadOnceTheStepWithTheOldestLinesIsAskedFirst) {
  StepLogs logs(StepLogs::Ask::once);
  auto steps = running(2);
  steps[0].started = kNoon + seconds(5);
  steps[1].started = kNoon;
  logs.on_steps(steps, kNoon + seconds(100));
  EXPECT_EQ(logs.next(kNoon), JobId("p_s1"));
  logs.answered(JobId("p_s1"), {true, true, false, kNoon + seconds(6)}, kNoon);
  EXPECT_EQ(logs.next(kNoon), JobId("p_s0"));
  logs.answered(JobId("p_s0"), {true, true, false, kNoon + seconds(7)}, kNoon);
  EXPECT_EQ(logs.next(kNoon), JobId("p_s1"));
}

TEST(StepLogs, WhatIsPastIsReadInOrderAndThenItGoesOn) {
  StepLogs logs(StepLogs::Ask::once_then_on);
  auto steps = running(2);
  steps[0].started = kNoon + seconds(5);
  steps[1].started = kNoon;
  const Instant now = kNoon + seconds(100);
  logs.on_steps(steps, now);
  EXPECT_EQ(logs.next(now), JobId("p_s1"));
  logs.answered(JobId("p_s1"), {true, true, false, kNoon + seconds(6)}, now);
  EXPECT_EQ(logs.next(now), JobId("p_s0"));
  logs.answered(JobId("p_s0"), {true, false, false, kNoon + seconds(7)}, now);
  EXPECT_TRUE(logs.is_past_read(JobId("p_s0")));
  EXPECT_FALSE(logs.is_read(JobId("p_s0"))) << "more comes";
  EXPECT_EQ(logs.next(now), JobId("p_s1"));
  EXPECT_FALSE(logs.is_past_read());
  logs.answered(JobId("p_s1"), {true, true, false, now + milliseconds(1)}, now);
  EXPECT_TRUE(logs.is_past_read()) << "what is more was written since";
  EXPECT_EQ(logs.next(now), std::nullopt);
  EXPECT_FALSE(logs.all_read());
  logs.go_on(now);
  EXPECT_FALSE(logs.in_order());
  EXPECT_EQ(logs.next(now), JobId("p_s0"));
  logs.answered(JobId("p_s0"), {true, false, true}, now);
  EXPECT_TRUE(logs.is_read(JobId("p_s0")));
  EXPECT_EQ(logs.next(now), JobId("p_s1"));
  logs.answered(JobId("p_s1"), {true, true, false, now + seconds(1)}, now);
  EXPECT_FALSE(logs.is_read(JobId("p_s1")));
  logs.answered(JobId("p_s1"), {true, false, true}, now);
  EXPECT_TRUE(logs.all_read());
}

TEST(StepLogs, OfAPipelineThatHasJustBegunNothingIsPast) {
  StepLogs logs(StepLogs::Ask::once_then_on);
  logs.on_steps({sample_step("s0", StepPhase::waiting)}, kNoon);
  EXPECT_TRUE(logs.is_past_read());
  EXPECT_FALSE(logs.all_read());
  logs.go_on(kNoon);
  EXPECT_TRUE(logs.all_read());
}

TEST(StepLogs, AReusedStepHasTheLogsOfTheJobThatStandsInForIt) {
  StepLogs logs(StepLogs::Ask::once, true);
  logs.on_steps(sample_pipeline().steps, kNoon);
  EXPECT_EQ(logs.next(kNoon), JobId("old_prepare"));
  logs.answered(JobId("old_prepare"), {true, false, false}, kNoon);
  EXPECT_TRUE(logs.is_read(JobId("old_prepare")));
}

// ---- which lines are said -----------------------------------------------------------------------

std::string texts(const std::vector<StepLine>& lines) {
  std::string text;
  for (const StepLine& line : lines)
    text += (line.after_logs_of.value.empty() ? "" : "(after logs) ") + line.text + "\n";
  return text;
}

TEST(StepLines, SayWhatHappensToEachStep) {
  StepLines lines(true);
  EXPECT_EQ(texts(lines.on_steps(sample_pipeline().steps, kNoon)),
            "prepare: reused from job old_prepare\n"
            "nested.train: Running (job p_nested_train)\n"
            "(after logs) check: Failed (job p_check): rank 0 on local-0 exited with code 3\n"
            "publish: not run: step 'check' failed, whose output 'good' is its input 'data'\n");
  EXPECT_EQ(texts(lines.on_steps(sample_pipeline().steps, kNoon)), "");
  auto steps = sample_pipeline().steps;
  steps[1] = sample_step("nested.train", StepPhase::completed);
  EXPECT_EQ(texts(lines.on_steps(steps, kNoon)),
            "(after logs) nested.train: Completed after 3.0s\n");
}

TEST(StepLines, WhatIsNotRunFollowsWhatFailed) {
  StepLines lines(true);
  std::vector<StepView> steps{sample_step("c", StepPhase::skipped),
                              sample_step("b", StepPhase::failed)};
  const auto said = lines.on_steps(steps, kNoon);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_TRUE(said[0].text.starts_with("b: Failed")) << said[0].text;
  EXPECT_TRUE(said[1].text.starts_with("c: not run")) << said[1].text;
  EXPECT_TRUE(said[1].after_all);
}

TEST(StepLines, WhoComesLaterIsNotToldThePastButWhatWasReused) {
  StepLines lines(false);
  EXPECT_EQ(texts(lines.on_steps(sample_pipeline().steps, kNoon)),
            "prepare: reused from job old_prepare\n"
            "nested.train: Running (job p_nested_train)\n");
  EXPECT_EQ(texts(lines.on_steps(sample_pipeline().steps, kNoon)), "");
}

TEST(StepLines, AWaitInTheQueueIsSaidWhenItLasts) {
  StepLines lines(true);
  std::vector<StepView> steps = {sample_step("train", StepPhase::running)};
  steps[0].status = JobStatus::queued;
  steps[0].reason = "waits for 2 free nodes";
  EXPECT_EQ(texts(lines.on_steps(steps, kNoon)), "");
  const std::string wait = "train: Queued (job p_train): waits for 2 free nodes\n";
  EXPECT_EQ(texts(lines.on_steps(steps, kNoon + seconds(2))), wait);
  EXPECT_EQ(texts(lines.on_steps(steps, kNoon + seconds(3))), "");
}

TEST(StepLines, WhatWaitsInVainIsSaidWhenNothingElseRuns) {
  StepView wide = sample_step("wide", StepPhase::running);
  wide.status = JobStatus::queued;
  wide.started = {};
  wide.reason = "needs 5 nodes; ask for less";
  std::vector<StepView> steps{sample_step("prepare", StepPhase::completed), wide,
                              sample_step("score", StepPhase::waiting)};
  EXPECT_EQ(in_vain_line(steps), std::nullopt) << "time may help";
  steps[1].in_vain = true;
  EXPECT_EQ(in_vain_line(steps), "wide: Queued (job p_wide): needs 5 nodes; ask for less");
  steps[2] = sample_step("score", StepPhase::running);
  EXPECT_EQ(in_vain_line(steps), std::nullopt) << "another step runs";
  steps[2] = sample_step("score", StepPhase::completed);
  steps[1].started = kNoon;
  EXPECT_EQ(in_vain_line(steps), std::nullopt) << "it ran before: its nodes may come back";
}

// ---- the whole ----------------------------------------------------------------------------------

std::string numbered(const std::string& step) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += step + " line " + std::to_string(i) + "\n";
  return text;
}

FakePipeline::Script script() {
  FakePipeline::Script script;
  script.job = sample_pipeline();
  script.job.steps = {sample_step("a", StepPhase::running), sample_step("bee", StepPhase::running),
                      sample_step("c", StepPhase::waiting)};
  script.final_job = script.job;
  script.final_job.status = JobStatus::completed;
  for (StepView& step : script.final_job.steps) step = sample_step(step.name, StepPhase::completed);
  script.final_job.steps[2] = sample_step("c", StepPhase::skipped);
  script.logs = {{JobId("p_a"), numbered("a")}, {JobId("p_bee"), numbered("bee")}};
  return script;
}

struct Seen {
  Result<FollowEnd> end;
  std::string out, err;
};

Seen follow(FakePipeline& launcher, const FollowOptions& options) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const Endpoint endpoint = launcher.endpoint();
  Terminal terminal;
  auto connection = Connection::open(endpoint, io::generate_key_pair());
  Result<FollowEnd> end = make_error(ErrorCode::internal, "no connection");
  if (connection)
    end = PipelineFollower(
              **connection, terminal, [&] { return std::optional(endpoint); }, options)
              .run();
  return {std::move(end), testing::internal::GetCapturedStdout(),
          testing::internal::GetCapturedStderr()};
}

FollowOptions options() {
  FollowOptions options;
  options.job = JobId("p");
  options.filter.ranks_only = true;
  options.watch = {seconds(2), seconds(1)};
  options.logs_quiet = seconds(1);
  return options;
}

// The lines of one step, without the prefix.
std::string lines_of(const std::string& out, const std::string& prefix) {
  std::string text;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prefix)) text += line.substr(prefix.size()) + "\n";
  return text;
}

class FollowingAPipeline : public testing::Test {
 protected:
  FollowingAPipeline() { hold_interrupts(true); }
  ~FollowingAPipeline() override { hold_interrupts(false); }
};

TEST_F(FollowingAPipeline, EachLineOnceWithItsStep) {
  FakePipeline launcher(script());
  const Seen seen = follow(launcher, options());
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::finished);
  EXPECT_EQ(lines_of(seen.out, "a   | "), numbered("a"));
  EXPECT_EQ(lines_of(seen.out, "bee | "), numbered("bee"));
  EXPECT_EQ(seen.out.size(), numbered("a").size() + numbered("bee").size() + 400 * 6);
  EXPECT_NE(seen.err.find("lockstep: bee: Completed after 3.0s\n"), std::string::npos) << seen.err;
}

TEST_F(FollowingAPipeline, WhatIsPastComesInTheOrderOfTimeThoughItStillRuns) {
  FakePipeline::Script past = script();
  const JobId a("p_a"), bee("p_bee");
  past.logs = {{a, "a one\na two\n"}, {bee, "bee one\nbee two\n"}};
  past.times = {{a, {{0, kNoon + seconds(1)}, {6, kNoon + seconds(3)}}},
                {bee, {{0, kNoon + seconds(2)}, {8, kNoon + seconds(4)}}}};
  past.chunk_bytes = 1'000;
  FakePipeline launcher(std::move(past));
  const Seen seen = follow(launcher, options());
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::finished);
  EXPECT_EQ(seen.out, "a   | a one\nbee | bee one\na   | a two\nbee | bee two\n");
}

TEST_F(FollowingAPipeline, SurvivesARestartOfTheLauncher) {
  FakePipeline::Script broken = script();
  broken.break_after_chunks = 300;
  FakePipeline launcher(std::move(broken));
  const Seen seen = follow(launcher, options());
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(launcher.lives(), 2);
  EXPECT_GT(launcher.most_resumed(), 0);
  EXPECT_EQ(lines_of(seen.out, "a   | "), numbered("a"));
  EXPECT_EQ(lines_of(seen.out, "bee | "), numbered("bee"));
}

TEST_F(FollowingAPipeline, CtrlCCancelsThePipelineThatWeCreated) {
  FakePipeline::Script endless = script();
  endless.ends_by_itself = false;
  endless.final_job.status = JobStatus::canceled;
  FakePipeline launcher(std::move(endless));
  std::thread user([] {
    ::usleep(300'000);
    ::kill(::getpid(), SIGINT);
  });
  FollowOptions created = options();
  created.cancel_on_interrupt = true;
  const Seen seen = follow(launcher, created);
  user.join();
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::finished);
  EXPECT_TRUE(seen.end->interrupted);
  EXPECT_EQ(launcher.cancels(), 1);
  EXPECT_NE(seen.err.find("lockstep: canceling p and its steps"), std::string::npos) << seen.err;
}

TEST_F(FollowingAPipeline, SaysWhatTheRanksOfAStepHangFor) {
  FakePipeline::Script hangs = script();
  hangs.ends_by_itself = false;
  hangs.final_job.status = JobStatus::canceled;
  JobView step;
  step.spec.name = "p_a";
  step.status = JobStatus::running;
  AttemptView& attempt = step.attempts.emplace_back();
  attempt.number = 1;
  attempt.parts.emplace_back().node_name = "n1";
  Found& found = attempt.found.emplace_back();
  found.kind = FoundKind::stopped;
  found.ranks = {{0, 0, "stopped", "", "", "", 0}};
  found.lasting = seconds(130);
  hangs.steps = {{JobId("p_a"), step}};
  FakePipeline launcher(std::move(hangs));
  std::thread user([] {
    ::usleep(2'500'000);  // steps are asked with the first tick, after a second
    ::kill(::getpid(), SIGINT);
  });
  FollowOptions created = options();
  created.cancel_on_interrupt = true;
  const Seen seen = follow(launcher, created);
  user.join();
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(launcher.cancels(), 1);
  EXPECT_NE(seen.err.find("lockstep: p_a: rank 0 on n1 has been stopped for 130 s (SIGSTOP, Ctrl-Z "
                          "or a debugger)\n"),
            std::string::npos)
      << seen.err;
}

TEST_F(FollowingAPipeline, OneWhoseStepsWereAllReusedSaysFromWhereAndEnds) {
  FakePipeline::Script over;
  over.job = sample_pipeline();
  over.job.status = JobStatus::completed;
  over.job.steps = {sample_step("a", StepPhase::reused), sample_step("b", StepPhase::reused)};
  over.final_job = over.job;
  FakePipeline launcher(std::move(over));
  FollowOptions later = options();
  later.is_over = true;
  const Seen seen = follow(launcher, later);
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::finished);
  EXPECT_EQ(seen.out, "");
  EXPECT_EQ(seen.err,
            "lockstep: a: reused from job p_a\n"
            "lockstep: b: reused from job p_b\n");
}

TEST_F(FollowingAPipeline, WhoAsksForItsLogsHasThoseOfReusedStepsToo) {
  FakePipeline::Script over;
  over.job = sample_pipeline();
  over.job.status = JobStatus::completed;
  over.job.steps = {sample_step("a", StepPhase::reused), sample_step("b", StepPhase::reused)};
  over.final_job = over.job;
  over.logs = {{JobId("p_a"), "a line\n"}, {JobId("p_b"), "b line\n"}};
  FakePipeline launcher(std::move(over));
  FollowOptions streamed = options();
  streamed.is_over = streamed.reused_logs = true;
  const Seen seen = follow(launcher, streamed);
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.out, "a | a line\nb | b line\n");
  EXPECT_EQ(seen.err,
            "lockstep: a: reused from job p_a\n"
            "lockstep: b: reused from job p_b\n")
      << "once each";
}

FakePipeline::Script waiting_in_vain() {
  FakePipeline::Script script;
  script.job = sample_pipeline();
  script.job.steps = {sample_step("a", StepPhase::running), sample_step("b", StepPhase::waiting)};
  StepView& first = script.job.steps[0];
  first.status = JobStatus::queued;
  first.started = {};
  first.in_vain = true;
  first.reason = "needs 5 nodes";
  script.final_job = script.job;
  script.final_job.status = JobStatus::canceled;
  for (StepView& step : script.final_job.steps) step = sample_step(step.name, StepPhase::skipped);
  script.ends_by_itself = false;
  return script;
}

TEST_F(FollowingAPipeline, OneWhoseStepWaitsInVainIsCanceledWithItsReason) {
  FakePipeline launcher(waiting_in_vain());
  FollowOptions leaving = options();
  leaving.leave_in_vain = true;
  leaving.cancel_on_interrupt = true;
  const Seen seen = follow(launcher, leaving);
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::finished);
  EXPECT_TRUE(seen.end->in_vain);
  EXPECT_EQ(launcher.cancels(), 1);
  EXPECT_EQ(seen.err,
            "lockstep: a: Queued (job p_a): needs 5 nodes\n"
            "lockstep: p is canceled, because it would wait in vain; --wait-anyway waits\n");
}

TEST_F(FollowingAPipeline, CtrlCLeavesThatOfOthersAlone) {
  FakePipeline::Script endless = script();
  endless.ends_by_itself = false;
  FakePipeline launcher(std::move(endless));
  std::thread user([] {
    ::usleep(300'000);
    ::kill(::getpid(), SIGINT);
  });
  const Seen seen = follow(launcher, options());
  user.join();
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::detached);
  EXPECT_EQ(launcher.cancels(), 0);
}

TEST_F(FollowingAPipeline, WhatIsLoggedNowComesStepByStep) {
  FakePipeline::Script endless = script();
  endless.ends_by_itself = false;
  FakePipeline launcher(std::move(endless));
  FollowOptions now = options();
  now.until_final = now.show_state = false;
  const Seen seen = follow(launcher, now);
  ASSERT_TRUE(seen.end) << seen.end.error().message;
  EXPECT_EQ(seen.end->how, FollowEnd::How::finished);
  EXPECT_EQ(lines_of(seen.out, "a   | "), numbered("a"));
  EXPECT_EQ(lines_of(seen.out, "bee | "), numbered("bee"));
  EXPECT_EQ(seen.err, "");
}

}  // namespace
}  // namespace lockstep::cli
