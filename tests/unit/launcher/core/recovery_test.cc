// A launcher that is killed and started again on its facts, wherever they were cut.

#include "launcher/core/invariants.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::IsEmpty;

TEST(Recovery, JobsGoOnWhereTheyWere) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId running = launcher.submit(job_spec("running"));
  const JobId queued = launcher.submit(job_spec("queued"));
  launcher.observe(n1, attempt(running), PartState::running);
  launcher.restart();
  EXPECT_EQ(launcher.status(running), JobStatus::running);
  EXPECT_EQ(launcher.status(queued), JobStatus::queued);
  launcher.open(n1, {report(attempt(running), PartState::running)});
  launcher.drop_notices();
  launcher.finished(n1, attempt(running), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(running), JobStatus::completed);
  EXPECT_EQ(launcher.status(queued), JobStatus::preparing);
}

TEST(Recovery, ResumesWhatShouldBeInFlight) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 5, 0}};
  launcher.finished(n1, attempt(job), exit);
  launcher.expect_one<AwaitLogs>();
  launcher.restart();
  const std::vector<Action> actions = launcher.core->resume();
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(std::get<AllowNode>(actions[0]).key, n1.key);
  EXPECT_EQ(std::get<AwaitLogs>(actions[1]).sizes, exit.logs);
  launcher.send(LogsDurableInput{attempt(job), n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST(Recovery, APartThatFinishedMeanwhileIsInTheFullReport) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.restart();
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0, Cause::exit_code, 4)});
  launcher.open(n1, {end});
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).report.value().exit_code, 4);
}

TEST(Recovery, APartPlacedJustBeforeTheLauncherDiedIsSentAgain) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.restart();
  launcher.open(n1, {});
  launcher.drop_notices();
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
  EXPECT_TRUE(launcher.assigned(n1, attempt(job)));
}

// A copy of an opening that was written before the part was assigned arrives at the next launcher.
TEST(Recovery, AnOpeningOlderThanTheAssignmentDoesNotProveThePartGone) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const SessionOpen late = launcher.opening(n1);
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.restart();
  launcher.send(SessionInput{n1.key, late});
  launcher.drop_notices();
  launcher.expect_one<AcceptSession>();
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
  EXPECT_EQ(launcher.status(job), JobStatus::running);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST(Recovery, AnOpeningOlderThanTheAssignmentDoesNotGiveUpItsLogs) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const SessionOpen late = launcher.opening(n1);
  const JobId job = launcher.submit(job_spec("job"));
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 5, 0}};
  launcher.finished(n1, attempt(job), exit);
  launcher.expect_one<AwaitLogs>();
  launcher.restart();
  launcher.send(SessionInput{n1.key, late});
  launcher.drop_notices();
  launcher.expect_one<AcceptSession>();
  EXPECT_THAT(launcher.facts<PartReleased>(), IsEmpty());
  launcher.send(LogsDurableInput{attempt(job), n1.id});
  launcher.drop_notices();
  EXPECT_EQ(launcher.facts<PartReleased>().size(), 1U);
}

// The same session opens again, having applied the revision that assigned the part.
TEST(Recovery, AnOpeningAsNewAsTheAssignmentProvesThePartGone) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  const SessionOpen lacks_it = launcher.opening(n1);
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.restart();
  launcher.send(SessionInput{n1.key, lacks_it});
  launcher.drop_notices();
  launcher.expect_one<AcceptSession>();
  EXPECT_EQ(launcher.facts<PartGone>().at(0).cause, Cause::runner_lost);
}

// Revisions are the node's own: what another node was sent does not count.
TEST(Recovery, AnOpeningIsComparedWithItsOwnNodesRevisions) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2", inventory(8));
  const JobId busy = launcher.submit(job_spec("busy"));
  launcher.cancel(busy);
  const JobId job = launcher.submit(job_spec("job"));
  FakeNode& holder = launcher.placed_on(attempt(job)) == std::vector<NodeId>{n1.id} ? n1 : n2;
  const std::uint64_t revision = launcher.core->desired_for(holder.id).revision;
  SessionOpen late = launcher.opening(holder);
  late.desired_revision = revision - 1;
  launcher.observe(holder, attempt(job), PartState::running);
  launcher.restart();
  ASSERT_EQ(launcher.core->desired_for(holder.id).revision, revision) << "it survives a restart";
  launcher.send(SessionInput{holder.key, late});
  launcher.drop_notices();
  launcher.expect_one<AcceptSession>();
  EXPECT_THAT(launcher.facts<PartGone>(), IsEmpty());
}

// A late copy of an opening lists an attempt that the node has told of since as removed. It says so
// only once, so the next launcher has to ask whether that still runs there.
TEST(Recovery, ALateOpeningThatListsARemovedAttemptHoldsTheNodeOnlyUntilItAnswers) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId lost = launcher.submit(job_spec("lost"));
  launcher.observe(n1, attempt(lost), PartState::running);
  launcher.cancel(lost);
  launcher.pass(seconds(20));  // not heard: LOST, its attempt fenced and canceled
  ASSERT_EQ(launcher.status(lost), JobStatus::canceled);
  const SessionOpen listing = launcher.opening(n1, {report(attempt(lost), PartState::stopping)});
  launcher.send(SessionInput{n1.key, listing});
  launcher.expect_one<AcceptSession>();
  launcher.take<AskForSession>();
  launcher.drop_notices();
  launcher.removed(n1, attempt(lost));

  launcher.restart();
  launcher.send(SessionInput{n1.key, listing});  // late
  launcher.drop_notices();
  launcher.expect_one<AcceptSession>();
  const std::uint64_t question = launcher.expect_one<AskForSession>().question;
  ASSERT_NE(question, 0U);
  const JobId next = launcher.submit(job_spec("next"));
  EXPECT_EQ(launcher.status(next), JobStatus::queued) << "what was listed may still run";
  launcher.beat(n1);
  EXPECT_EQ(launcher.expect_one<AskForSession>().question, question) << "until it is answered";

  launcher.send(SessionInput{n1.key, launcher.opening(n1)});  // of before the question
  launcher.expect_one<AcceptSession>();
  launcher.expect_one<AskForSession>();
  EXPECT_EQ(launcher.status(next), JobStatus::queued);
  SessionOpen answer = launcher.opening(n1);
  answer.answers = question;
  launcher.send(SessionInput{n1.key, answer});
  launcher.expect_one<AcceptSession>();
  launcher.drop_notices();
  EXPECT_TRUE(launcher.assigned(n1, attempt(next)));
  launcher.beat(n1);
}

TEST(Recovery, AnAnswerThatStillListsTheAttemptHoldsTheNodeUntilItIsRemoved) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId lost = launcher.submit(job_spec("lost"));
  launcher.observe(n1, attempt(lost), PartState::running);
  launcher.cancel(lost);
  launcher.pass(seconds(20));
  const PartReport stopping = report(attempt(lost), PartState::stopping);
  launcher.send(SessionInput{n1.key, launcher.opening(n1, {stopping})});
  launcher.expect_one<AcceptSession>();
  SessionOpen answer = launcher.opening(n1, {stopping});
  answer.answers = launcher.expect_one<AskForSession>().question;
  launcher.drop_notices();
  launcher.send(SessionInput{n1.key, answer});
  launcher.expect_one<AcceptSession>();
  const JobId next = launcher.submit(job_spec("next"));
  EXPECT_EQ(launcher.status(next), JobStatus::queued);
  launcher.removed(n1, attempt(lost));
  EXPECT_TRUE(launcher.assigned(n1, attempt(next)));
}

TEST(Recovery, ThePrepareTimeOutCountsNoTimeInWhichNoLauncherRan) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::staging);
  launcher.restart(std::chrono::hours(5));
  launcher.open(n1, {report(attempt(job), PartState::staging)});
  launcher.drop_notices();
  launcher.pass(minutes(1), {&n1});
  EXPECT_THAT(launcher.facts<AttemptDoomed>(), IsEmpty());
}

// Retries, a lost node, a cancel, logs awaited and given up: one life with everything in it.
void busy_life(TestLauncher& launcher) {
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  FakeNode n3 = launcher.join("n3");
  const JobId gang = launcher.submit(job_spec("gang", 2));
  const JobId solo = launcher.submit(job_spec("solo"));
  const JobId waits = launcher.submit(job_spec("waits"));
  launcher.prepared(n1, attempt(gang));
  launcher.prepared(n2, attempt(gang));
  launcher.observe(n1, attempt(gang), PartState::running);
  NodeExitReport exit = node_exit({rank_exit(0)});
  exit.logs = {{0, 5, 0}};
  launcher.finished(n3, attempt(solo), exit);
  launcher.take<AwaitLogs>();
  launcher.finished(n1, attempt(gang), node_exit({rank_exit(0, Cause::signal, 9)}));
  launcher.pass(seconds(11), {&n1, &n3});
  launcher.send(LogsDurableInput{attempt(solo), n3.id});
  launcher.drop_notices();
  launcher.cancel(waits);
  launcher.finished(n3, attempt(waits), node_exit({terminated(0)}));
  launcher.prepared(n1, attempt(gang, 2));
  launcher.prepared(n3, attempt(gang, 2));
  launcher.finished(n1, attempt(gang, 2), node_exit({rank_exit(0)}));
  launcher.finished(n3, attempt(gang, 2), node_exit({rank_exit(1)}));
  EXPECT_EQ(launcher.status(gang), JobStatus::completed);
  EXPECT_EQ(launcher.status(solo), JobStatus::completed);
  EXPECT_EQ(launcher.status(waits), JobStatus::canceled);
}

TEST(Recovery, ACutBetweenAnyTwoFactsLeavesAStateThatGoesOn) {
  TestLauncher launcher;
  busy_life(launcher);
  const std::vector<StampedFact>& facts = launcher.all_facts();
  for (std::size_t cut = 0; cut <= facts.size(); ++cut) {
    Core core(launcher.config);
    for (std::size_t i = 0; i < cut; ++i) core.replay(facts[i]);
    Instant now = launcher.now + minutes(1);
    core.recovered(now);
    core.resume();
    // No node ever comes back: all of them are lost, and nothing may hang but what can be retried.
    for (int step = 0; step < 1000 && core.next_deadline() != Instant::never(); ++step) {
      now = std::max(now, core.next_deadline());
      core.handle(now, TickInput{});
      for (const std::string& violation : check_invariants(core.state()))
        ADD_FAILURE() << "cut at " << cut << ": " << violation;
    }
    EXPECT_EQ(core.next_deadline(), Instant::never()) << "cut at " << cut << ": it never rests";
    for (const auto& [id, job] : core.state().jobs())
      EXPECT_TRUE(job.is_waiting() || job.is_final())
          << "cut at " << cut << ": job " << id.value << " hangs";
  }
}

}  // namespace
}  // namespace lockstep::launcher
