// What is told of a job: facts as events that survive a restart, and notes that do not.

#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/ends.h"
#include "common/domain/why/jobs/orders.h"
#include "common/domain/why/jobs/waits.h"
#include "common/domain/why/ranks/notes.h"
#include "launcher/state/event.h"

#include "launcher/core/memory/notes.h"
#include "launcher/words/why.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Events : public ::testing::Test {
 protected:
  EventsReply told(const JobId& job, Instant since = {}) {
    return launcher.core->job_events(job, since).value();
  }
  std::vector<std::string> words(const JobId& job, Instant since = {}) {
    std::vector<std::string> words;
    for (const JobEvent& event : told(job, since).events) words.push_back(event.what);
    return words;
  }
  JobEvent last(const JobId& job) { return told(job).events.back(); }

  TestLauncher launcher;
};

TEST_F(Events, AJobThatCompletes) {
  FakeNode n1 = launcher.join("n1");
  JobSpec spec = job_spec("job");
  spec.submitter = "anna";
  const JobId job = launcher.submit(spec);
  launcher.observe(n1, attempt(job), PartState::staging);
  launcher.observe(n1, attempt(job), PartState::running);
  EXPECT_FALSE(told(job).final);
  launcher.observe(n1, attempt(job), PartState::collecting);
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0)}));
  EXPECT_THAT(words(job), ElementsAre("Submitted", "Placed", "Preparing", "Running", "RanksEnded",
                                      "Ended", "Finished"));
  const EventsReply reply = told(job);
  EXPECT_TRUE(reply.final);
  EXPECT_EQ(reply.events[0].why, Why(DoneBy{AskedBy{"anna"}}));
  EXPECT_EQ(reply.events[0].attempt, 0U);
  EXPECT_EQ(reply.events[1].why, Why(PlacedOn{{"n1"}}));
  EXPECT_EQ(reply.events[1].attempt, 1U);
  EXPECT_EQ(reply.events[2].node_name, "n1");
  EXPECT_EQ(reply.events[6].why, Why(JobIs{JobStatus::completed}));
  EXPECT_FALSE(launcher.core->job_events(JobId("ghost"), {}).has_value());
}

TEST_F(Events, AGangTellsOfItselfOnceNotOfEachNode) {
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2, 1));
  for (FakeNode* node : {&n1, &n2}) launcher.observe(*node, attempt(job), PartState::staging);
  for (FakeNode* node : {&n1, &n2}) launcher.prepared(*node, attempt(job));
  for (FakeNode* node : {&n1, &n2}) launcher.observe(*node, attempt(job), PartState::running);
  EXPECT_THAT(words(job),
              ElementsAre("Submitted", "Placed", "Preparing", "Prepared", "Connecting", "Running"));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(1, Cause::exit_code, 3)}));
  EXPECT_EQ(last(job).what, "FirstFailure");
  EXPECT_EQ(last(job).node_name, "n2");
  EXPECT_EQ(last(job).why, Why(RankFailed{1, "n2", Cause::exit_code, 3}));
}

// Its ranks were stopped for another node's failure, which is heard of later.
TEST_F(Events, TheFirstFailureIsOfNoNodeWhoseRanksWereOnlyStopped) {
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2, 1));
  for (FakeNode* node : {&n1, &n2}) launcher.prepared(*node, attempt(job));
  for (FakeNode* node : {&n1, &n2}) launcher.observe(*node, attempt(job), PartState::running);
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  EXPECT_THAT(words(job), ::testing::Not(::testing::Contains("FirstFailure")));
  launcher.finished(n2, attempt(job), node_exit({rank_exit(1, Cause::exit_code, 3)}));
  EXPECT_THAT(words(job), ::testing::Not(::testing::Contains("FirstFailure")));
  EXPECT_EQ(launcher.view(job).report->rank, 1);
}

TEST_F(Events, ARequeueAndACancelWithWhoAndWhy) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.finished(n1, attempt(job), node_failure(Cause::runner_lost, "killed"));
  launcher.cancel(job, "bob");
  launcher.drop_notices();
  const auto events = told(job).events;
  EXPECT_THAT(words(job),
              ElementsAre("Submitted", "Placed", "Ended", "Requeued", "Placed", "CancelRequested"));
  ASSERT_TRUE(events[3].why.is<RetriedAfter>());
  EXPECT_EQ(events[3].why.as<RetriedAfter>()->end, events[2].why);
  EXPECT_EQ(events[3].why.as<RetriedAfter>()->then, Why(ChargedRetry{1, RetryPolicy().max}));
  EXPECT_EQ(events[3].attempt, 1U);
  EXPECT_EQ(events[4].attempt, 2U);
  EXPECT_EQ(events[5].why, Why(DoneBy{AskedBy{"bob"}}));
}

TEST_F(Events, OutputsAreToldWithTheirNode) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  end.outputs = {{OutputKind::outputs, "", sha256("tree"), 3, mebibytes(2), {}}};
  launcher.observe(n1, end);
  launcher.drop_notices();
  const auto events = told(job).events;
  ASSERT_EQ(events[2].what, "OutputsCollected");
  EXPECT_EQ(events[2].why,
            Why(OutputsCollected{{{OutputKind::outputs, "", true, 3, mebibytes(2)}}}));
  EXPECT_EQ(events[2].node_name, "n1");
}

TEST_F(Events, WhyAJobWaitsIsNotedWhenItChanges) {
  const JobId job = launcher.submit(job_spec("job"));
  launcher.drop_notices();
  EXPECT_THAT(words(job), ElementsAre("Submitted", "Waits"));
  const Why first = last(job).why;
  FakeNode n1 = launcher.join("n1");
  EXPECT_TRUE(first);
  EXPECT_EQ(last(job).what, "Placed");
}

TEST_F(Events, ASilentNodeAndItsReturn) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  const Instant before = launcher.now + milliseconds(1);
  launcher.pass(seconds(5));
  EXPECT_THAT(words(job, before), ElementsAre("NodeUnknown"));
  EXPECT_EQ(last(job).node_name, "n1");
  launcher.beat(n1);
  EXPECT_THAT(words(job, before), ElementsAre("NodeUnknown", "NodeHeard"));
  launcher.pass(seconds(20));
  EXPECT_THAT(words(job, before), ElementsAre("NodeUnknown", "NodeHeard", "NodeUnknown", "Lost",
                                              "Ended", "Requeued", "Waits"));
}

TEST_F(Events, LogsThatWaitAreShownAndToldAndGoOn) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  EXPECT_FALSE(launcher.why(job));
  PartReport waiting = report(attempt(job), PartState::running);
  waiting.progress =
      "output of rank 0 is paused: the launcher has not yet stored 1.0 GiB of earlier logs";
  launcher.observe(n1, waiting);
  EXPECT_EQ(launcher.expect_one<JobChanged>().job, job);
  EXPECT_EQ(launcher.why(job), (NodeSays{"n1", waiting.progress}));
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].progress, waiting.progress);
  EXPECT_EQ(last(job).what, "LogsWait");
  EXPECT_EQ(last(job).why, lockstep::told(waiting.progress));
  launcher.observe(n1, report(attempt(job), PartState::running));
  EXPECT_EQ(launcher.expect_one<JobChanged>().job, job);
  EXPECT_FALSE(launcher.why(job));
  EXPECT_EQ(last(job).what, "LogsGoOn");
}

TEST_F(Events, ALimitThatRanksRanIntoIsToldOnceAndStaysShown) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  PartReport limited = report(attempt(job), PartState::running);
  limited.limits = {ForksRefused{0, 1, 4'096, false, 0}};
  launcher.observe(n1, limited);
  EXPECT_EQ(launcher.expect_one<JobChanged>().job, job);
  EXPECT_EQ(last(job).what, "LimitReached");
  EXPECT_EQ(last(job).why, limited.limits[0]);
  EXPECT_EQ(last(job).node_name, "n1");
  const std::size_t told_before = told(job).events.size();
  limited.limits = {ForksRefused{0, 512, 4'096, false, 0}};
  launcher.observe(n1, limited);
  launcher.drop_notices();
  EXPECT_EQ(told(job).events.size(), told_before) << "more of the same";
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].limits_why, limited.limits);
  NodeExitReport exit = node_exit({rank_exit(0, Cause::exit_code, 254)});
  exit.limits = {ForksRefused{0, 600, 4'096, false, 0},
                 LogsAreCut{mebibytes(1), 0, 1, gibibytes(1)}};
  launcher.finished(n1, attempt(job), exit);
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].limits_why, exit.limits);
  EXPECT_THAT(words(job), ::testing::Contains("LimitReached").Times(2));
}

TEST_F(Events, RanksThatHaveEndedAreShownWhileOthersRunAndAfterwards) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job", 1, 2));
  launcher.observe(n1, attempt(job), PartState::running);
  const auto states = [&] {
    std::string text;
    for (const RankView& rank : ranks_of(launcher.view(job).attempts[0].parts[0]))
      text += std::string(to_string(rank.state)) + " ";
    return text;
  };
  EXPECT_EQ(states(), "Running Running ");
  PartReport one_less = report(attempt(job), PartState::running);
  one_less.ended = {end_of(rank_exit(7)), end_of(rank_exit(1)), end_of(rank_exit(-1))};
  launcher.observe(n1, one_less);
  EXPECT_EQ(launcher.expect_one<JobChanged>().job, job);
  EXPECT_EQ(states(), "Running Exited ");
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].ended.size(), 1U) << "the others are not its";
  launcher.observe(n1, report(attempt(job), PartState::running));
  launcher.drop_notices();
  EXPECT_EQ(states(), "Running Exited ") << "an agent that has just started may not know yet";
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0, Cause::exit_code, 3), rank_exit(1)}));
  EXPECT_EQ(states(), "Exited Exited ");
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].ended[0].exit_code, 3);
}

// A late copy of an earlier message must not show what is over.
TEST_F(Events, LateWordsArePassedOver) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  PartReport waiting = report(attempt(job), PartState::running);
  waiting.progress = "logs wait";
  launcher.observe(n1, report(attempt(job), PartState::running));
  launcher.send(ObservedInput{n1.key, {n1.id, n1.session, n1.sequence - 1, {waiting}, {}}});
  launcher.expect_one<AckObserved>();
  launcher.drop_notices();
  EXPECT_FALSE(launcher.why(job));
}

TEST_F(Events, FactsSurviveARestartAndNotesDoNot) {
  const JobId job = launcher.submit(job_spec("job"));
  launcher.drop_notices();
  FakeNode n1 = launcher.join("n1");
  launcher.observe(n1, attempt(job), PartState::running);
  EXPECT_EQ(words(job).at(1), "Waits");
  EXPECT_EQ(words(job).back(), "Running");
  launcher.restart();
  launcher.drop_notices();
  EXPECT_THAT(words(job), ElementsAre("Submitted", "Placed", "Running"));
}

// Attempts of a later job of the same name, and all attempts after a restore, have an incarnation.
TEST_F(Events, ALaterJobOfTheSameNameHasTextsOfItsOwn) {
  const JobId job = launcher.submit(job_spec("job"));  // it waits for a node
  launcher.drop_notices();
  FakeNode n1 = launcher.join("n1");
  launcher.finished(n1, attempt(job), node_exit({rank_exit(0, Cause::exit_code, 3)}));
  launcher.send(DeleteInput{launcher.next_reply(), {job}, false, {}, {}});
  launcher.take<ReplyDeleted>();
  launcher.take<ForgetJob>();
  launcher.drop_notices();

  launcher.submit(job_spec("job"));
  const AttemptId first = launcher.core->state().job(job)->attempts.back().id;
  ASSERT_NE(first.incarnation, 0U);
  launcher.finished(n1, first, node_exit({rank_exit(0, Cause::exit_code, 4)}));
  for (int times = 0; times < 2; ++times, launcher.restart()) {
    EXPECT_THAT(words(job), ElementsAre("Submitted", "Placed", "Ended", "Finished"));
    EXPECT_EQ(told(job).events[1].why, Why(PlacedOn{{"n1"}}));
    const Why end = RankFailed{0, "n1", Cause::exit_code, 4};
    EXPECT_EQ(told(job).events[2].why, end);
    EXPECT_EQ(told(job).events[3].why, Why(JobIs{JobStatus::failed, end}));
  }
}

TEST_F(Events, HaveTheirTextsAfterARestore) {
  FakeNode n1 = launcher.join("n1");
  launcher.found(IncarnationBegan{1'800'000'000'000, true});
  const JobId job = launcher.submit(job_spec("job"));
  const AttemptId first = launcher.core->state().job(job)->attempts.back().id;
  ASSERT_NE(first.incarnation, 0U);
  launcher.finished(n1, first, node_exit({rank_exit(0)}));
  EXPECT_EQ(told(job).events[1].why, Why(PlacedOn{{"n1"}}));
  EXPECT_EQ(told(job).events[2].what, "Ended");
  EXPECT_EQ(told(job).events[2].why, Why(AllRanksCompleted{}));
}

TEST_F(Events, ThoseSinceAnInstantOnly) {
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.tick(seconds(1));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  EXPECT_THAT(words(job, launcher.now), ElementsAre("Running"));
  EXPECT_THAT(words(job, launcher.now + milliseconds(1)), IsEmpty());
}

TEST(EventListTest, KeepsTheFirstAndTheNewest) {
  EventList list;
  for (int i = 0; i < 1'000; ++i) list.add({Instant{i}, Event::Kind::placed, 1, {}, {}});
  EXPECT_EQ(list.events.size(), kMaxEvents);
  EXPECT_EQ(list.left_out, 1'000 - kMaxEvents);
  EXPECT_EQ(list.events[kFirstEvents - 1].at, Instant{kFirstEvents - 1});
  EXPECT_EQ(list.events.back().at, Instant{999});
}

TEST(NotesTest, AreBoundedForEachJobAndForAll) {
  Notes notes;
  for (int i = 0; i < 500; ++i)
    notes.add({JobId("a"), 0}, {{Instant{i}, Event::Kind::waits, 0, {}, {}}, 0});
  EXPECT_EQ(notes.of({JobId("a"), 0})->size(), kMaxNotesPerJob);
  EXPECT_EQ(notes.of({JobId("a"), 0})->front().event.at, Instant{400});
  for (std::size_t i = 0; i < kMaxNotes; ++i)
    notes.add({JobId("job" + std::to_string(i)), 0},
              {{Instant{1'000}, Event::Kind::waits, 0, {}, {}}, 0});
  EXPECT_EQ(notes.of({JobId("a"), 0}), nullptr) << "the oldest made room";
  EXPECT_NE(notes.of({JobId("job0"), 0}), nullptr);
}

}  // namespace
}  // namespace lockstep::launcher
