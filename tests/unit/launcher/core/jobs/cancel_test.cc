// Cancel: at every point of a job's life, once or often.

#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/jobs/waits.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::HasSubstr;

TEST(Cancel, OfAQueuedJobTakesEffectAtOnce) {
  TestLauncher launcher;
  const JobId job = launcher.submit(job_spec("job"));
  launcher.cancel(job, "bob");
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  const ExitReport report = launcher.view(job).report.value();
  EXPECT_EQ(report.exit_code, 130);
  EXPECT_EQ(report.why, Why(JobCanceled{AskedBy{"bob"}, true}));
}

TEST(Cancel, OfTheHeadOfTheQueueLetsTheNextOneRun) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  launcher.submit(job_spec("running"));
  const JobId pair = launcher.submit(job_spec("pair", 2));
  const JobId small = launcher.submit(job_spec("small"));
  ASSERT_EQ(launcher.status(small), JobStatus::queued);
  launcher.cancel(pair);
  EXPECT_EQ(launcher.status(small), JobStatus::preparing);
}

TEST(Cancel, OfARunningJobStopsAllPartsAndEndsWith130) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2));
  launcher.prepared(n1, attempt(job));
  launcher.prepared(n2, attempt(job));
  launcher.cancel(job);
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).phase, WantedPhase::stop);
  EXPECT_EQ(launcher.assignment(n2, attempt(job)).stop_reason, StopReason::canceled);
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  launcher.finished(n2, attempt(job), node_exit({terminated(1)}));
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 130);
  EXPECT_EQ(launcher.view(job).report.value().terminated_ranks, (std::vector<int>{0, 1}));
}

TEST(Cancel, AFailureBeforeItIsSaid) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.prepared(n1, attempt(job));
  launcher.cancel(job, "bob");
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0, Cause::exit_code, 3)}));
  const ExitReport report = launcher.view(job).report.value();
  EXPECT_EQ(report.cause, Cause::canceled);
  const Why failed = RankFailed{0, "n1", Cause::exit_code, 3};
  EXPECT_EQ(report.why, Why(JobCanceled{AskedBy{"bob"}, false, failed}));
}

TEST(Cancel, TwiceIsOnce) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.cancel(job);
  launcher.cancel(job);
  EXPECT_EQ(launcher.facts<CancelRequested>().size(), 1U);
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  launcher.cancel(job);
  EXPECT_EQ(launcher.facts<CancelRequested>().size(), 1U);
  EXPECT_EQ(launcher.facts<JobFinished>().size(), 1U);
}

TEST(Cancel, OfAnUnknownJobIsRefused) {
  TestLauncher launcher;
  launcher.send(CancelInput{launcher.next_reply(), JobId("ghost"), UserCaller{"bob"}});
  const ReplyRefused refused = launcher.expect_one<ReplyRefused>();
  EXPECT_EQ(refused.code, ErrorCode::not_found);
  EXPECT_THAT(refused.message, HasSubstr("ghost"));
}

TEST(Cancel, BeforeTheEndWinsEvenIfTheJobCompletesMeanwhile) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.cancel(job);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
}

TEST(Cancel, AfterTheEndDoesNotChangeHowItEnded) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 5, 0}};
  launcher.finished(n1, attempt(job), exit);
  launcher.expect_one<AwaitLogs>();
  launcher.cancel(job);
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  launcher.send(LogsDurableInput{attempt(job), n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST(Cancel, WaitsForAnUnknownNodeUntilItIsHeardOrLost) {
  for (const bool returns : {true, false}) {
    TestLauncher launcher;
    FakeNode n1 = launcher.join("n1");
    const JobId job = launcher.submit(job_spec("job"));
    launcher.observe(n1, attempt(job), PartState::running);
    launcher.pass(seconds(5));
    launcher.cancel(job);
    EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
    if (returns)
      launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
    else
      launcher.pass(seconds(6));
    EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  }
}

TEST(Cancel, AStoppedPartStaysStoppedWhileItsLogsAreAwaited) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.cancel(job);
  NodeExitReport exit = node_exit({terminated(0)});
  exit.logs = {{0, 5, 0}};
  launcher.finished(n1, attempt(job), exit);
  launcher.expect_one<AwaitLogs>();
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).phase, WantedPhase::stop);
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  launcher.send(LogsDurableInput{attempt(job), n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
}

// ---- logs that find no space on the launcher
// -----------------------------------------------------

class LogsThatFindNoSpace : public ::testing::Test {
 protected:
  void end(const RankExit& how) {
    NodeExitReport exit = node_exit({how});
    exit.logs = {{0, 5000, 0}};
    launcher.finished(n1, attempt(job), exit);
    launcher.expect_one<AwaitLogs>();
  }
  // What the job's events of this name say.
  std::vector<Why> said(const std::string& what) {
    std::vector<Why> reasons;
    const EventsReply reply = launcher.core->job_events(job, {}).value();
    for (const JobEvent& event : reply.events)
      if (event.what == what) reasons.push_back(event.why);
    return reasons;
  }
  const Why lost = LogsWithoutSpace{Bytes{4096}, "n1"};
  // Refused every second for so long.
  void refuse_for(Duration time, std::uint64_t episode = 1) {
    for (; time > Duration::zero(); time -= seconds(1)) {
      launcher.send(LogsRefusedInput{attempt(job), n1.id, episode, 4096});
      launcher.drop_notices();
      launcher.pass(seconds(1), {&n1});
    }
  }
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  JobId job = launcher.submit(job_spec("job"));
};

TEST_F(LogsThatFindNoSpace, OfACanceledJobAreGivenUpAfterHalfAMinute) {
  launcher.cancel(job);
  end(terminated(0));
  refuse_for(seconds(30));
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  refuse_for(seconds(1));
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  EXPECT_EQ(launcher.facts<PartReleased>(),
            (std::vector<PartReleased>{{attempt(job), n1.id, true, 4096}}));
  EXPECT_EQ(launcher.view(job).report.value().why,
            Why(EndedWith{JobCanceled{AskedBy{"alice"}}, {lost}}));
}

TEST_F(LogsThatFindNoSpace, OfAnotherJobWaitAsLongAsItTakes) {
  end(rank_exit(0));
  refuse_for(minutes(12));
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  launcher.send(LogsDurableInput{attempt(job), n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  EXPECT_EQ(launcher.view(job).report.value().why, Why(AllRanksCompleted{}));
}

TEST_F(LogsThatFindNoSpace, ACancelAfterItsEndGivesThemUpAndChangesNothingElse) {
  end(rank_exit(0));
  refuse_for(minutes(1));
  launcher.cancel(job);
  refuse_for(seconds(30));
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  refuse_for(seconds(1));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  EXPECT_EQ(launcher.view(job).report.value().why, Why(EndedWith{AllRanksCompleted{}, {lost}}));
}

TEST_F(LogsThatFindNoSpace, ThatWasThereInBetweenIsWorthAnotherHalfMinute) {
  launcher.cancel(job);
  end(terminated(0));
  refuse_for(seconds(25));
  refuse_for(seconds(30), 2);
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  refuse_for(seconds(1), 2);
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
}

TEST_F(LogsThatFindNoSpace, AreSaidWhileTheyWaitAndWhenTheyAreLost) {
  end(rank_exit(0));
  const std::string why = "the launcher's disk is full";
  const auto refuse = [&](Duration time) {
    for (; time > Duration::zero(); time -= seconds(1)) {
      launcher.send(LogsRefusedInput{attempt(job), n1.id, 1, 4096, why});
      launcher.drop_notices();
      launcher.pass(seconds(1), {&n1});
    }
  };
  refuse(seconds(20));
  EXPECT_EQ(launcher.why(job), (WaitsForLogs{attempt(job), {"n1"}, lockstep::told(why)}));
  EXPECT_EQ(said("LogsWait"), std::vector<Why>{LauncherTakesNoLogs{why}})
      << "once, however often it is tried";
  launcher.pass(seconds(20), {&n1});
  EXPECT_EQ(launcher.why(job), (WaitsForLogs{attempt(job), {"n1"}, {}})) << "it may be over";
  launcher.cancel(job);
  refuse(seconds(31));
  ASSERT_EQ(launcher.status(job), JobStatus::completed);
  const Why end = EndedWith{AllRanksCompleted{}, {lost}};
  EXPECT_EQ(launcher.view(job).report->why, end);
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].lost_logs, Bytes{4096});
  EXPECT_EQ(said("Finished"), (std::vector<Why>{JobIs{JobStatus::completed, end}}));
  const std::vector<Why> part{LastLogsLost{Bytes{4096}}};
  EXPECT_EQ(said("LogsNotKept"), part);
  EXPECT_EQ(launcher.core->state().ended_size().logs, Bytes{5000 - 4096}) << "what is there counts";
  launcher.restart();
  launcher.drop_notices();
  EXPECT_EQ(said("LogsNotKept"), part) << "for good";
}

TEST_F(LogsThatFindNoSpace, VersionsThatAreRefusedToARunningJobAreSaidOnce) {
  launcher.observe(n1, attempt(job), PartState::running);
  for (int i = 0; i < 3; ++i) {
    launcher.send(OutputsRefusedInput{attempt(job), n1.id, "no room"});
    launcher.drop_notices();
    launcher.pass(seconds(1), {&n1});
  }
  EXPECT_EQ(said("OutputNotKept"), std::vector<Why>{NewerNotKept{"no room"}});
}

TEST_F(LogsThatFindNoSpace, AreNotThoseThatAreOnlyLate) {
  launcher.cancel(job);
  end(terminated(0));
  launcher.pass(minutes(2), {&n1});
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested);
  launcher.send(LogsRefusedInput{attempt(job), n1.id, 1, 4096});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::cancel_requested) << "half a minute begins with it";
}

}  // namespace
}  // namespace lockstep::launcher
