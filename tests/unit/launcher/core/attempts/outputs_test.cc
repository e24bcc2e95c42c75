// What jobs leave behind, as the launcher hears of it.

#include "common/domain/why/jobs/events.h"
#include "common/domain/why/jobs/waits.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

std::vector<CollectedOutput> left(const std::string& what) {
  CollectedOutput output;
  output.tree = sha256(what);
  output.files = 1;
  return {output};
}

PartReport finished_with(const AttemptId& attempt, NodeExitReport exit, const std::string& what) {
  PartReport end = report(attempt, PartState::finished);
  end.exit = std::move(exit);
  end.outputs = left(what);
  return end;
}

TEST(Outputs, WhatWasNotKeptIsInTheRecordOfEachNodeAndOutlivesARestart) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job", 1));
  launcher.drop_notices();
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  EXPECT_FALSE(launcher.view(job).attempts[0].parts[0].not_kept);
  PartReport end = finished_with(attempt(job), node_exit({rank_exit(0)}), "1");
  NotKept& lost = end.not_kept.emplace();
  lost.names = {"model.pt"};
  lost.files = 1;
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].not_kept, lost);
  launcher.restart();
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].not_kept, lost);
}

TEST(Outputs, AJobIsFinalizingWhileAllItsNodesCollect) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2));
  for (FakeNode* node : {&n1, &n2}) {
    launcher.prepared(*node, attempt(job));
    launcher.drop_notices();
  }
  for (FakeNode* node : {&n1, &n2}) {
    launcher.observe(*node, attempt(job), PartState::running);
    launcher.drop_notices();
  }
  launcher.drop_notices();
  PartReport collecting = report(attempt(job), PartState::collecting);
  collecting.progress = "collecting ./outputs";
  launcher.observe(n1, collecting);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::running) << "n2 still runs";
  launcher.observe(n2, collecting);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  const PartProgress of_n2{"n2", PartState::collecting, "collecting ./outputs"};
  EXPECT_EQ(launcher.why(job),
            (WaitsForParts{{{"n1", PartState::collecting, "collecting ./outputs"}, of_n2}, 0}));
  collecting.progress = "collecting ./outputs: 1.0/2.0 MiB";
  launcher.observe(n1, collecting);  // for people: no fact
  launcher.drop_notices();
  EXPECT_EQ(launcher.why(job),
            (WaitsForParts{
                {{"n1", PartState::collecting, "collecting ./outputs: 1.0/2.0 MiB"}, of_n2}, 0}));
  EXPECT_EQ(launcher.facts<PartChanged>().size(), 6U);
  EXPECT_TRUE(launcher.view(job).attempts[0].parts[0].outputs.empty());
  launcher.observe(n1, finished_with(attempt(job), node_exit({rank_exit(0)}), "1"));
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::finalizing);
  launcher.observe(n2, finished_with(attempt(job), node_exit({rank_exit(1)}), "2"));
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  launcher.drop_notices();
  launcher.restart();
  const AttemptView view = launcher.view(job).attempts[0];
  EXPECT_EQ(view.parts[0].outputs, left("1"));
  EXPECT_EQ(view.parts[1].outputs, left("2"));
}

TEST(Outputs, EachAttemptHasItsOwnAndAFailedOneHasThemToo) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  launcher.observe(
      n1, finished_with(attempt(job), node_failure(Cause::runner_lost, "it died"), "first"));
  launcher.drop_notices();
  ASSERT_EQ(launcher.view(job).attempts.size(), 2U);
  launcher.observe(n1, attempt(job, 2), PartState::running);
  launcher.drop_notices();
  launcher.observe(
      n1, finished_with(attempt(job, 2), node_exit({rank_exit(0, Cause::exit_code, 3)}), "second"));
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::failed);
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, left("first"));
  EXPECT_EQ(launcher.view(job).attempts[1].parts[0].outputs, left("second"));
}

TEST(Outputs, OfAPartThatRunsAreShownAndBecomeAFactNowAndThen) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  const std::size_t facts = launcher.all_facts().size();
  PartReport running = report(attempt(job), PartState::running);
  for (const char* word : {"1", "2"}) {
    running.outputs = left(word);
    launcher.observe(n1, running);
    launcher.drop_notices();
    EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, left(word));
  }
  EXPECT_EQ(launcher.all_facts().size(), facts + 1);
  EXPECT_EQ(launcher.facts<OutputsSoFar>().back().outputs, left("1"));
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_TRUE(launcher.view(job).attempts[0].parts[0].outputs.empty());
}

// All trees that the launcher's shell is told of as replaced, in order.
std::vector<Digest> replaced(TestLauncher& launcher, const AttemptId& attempt) {
  std::vector<Digest> trees;
  for (const TreesReplaced& one : launcher.take<TreesReplaced>()) {
    EXPECT_EQ(one.attempt, attempt);
    trees.insert(trees.end(), one.trees.begin(), one.trees.end());
  }
  launcher.drop_notices();
  return trees;
}

TEST(Outputs, WhatANewerVersionReplacesMayBeRemoved) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  PartReport running = report(attempt(job), PartState::running);
  const auto say = [&](const std::string& what, const std::string& checkpoint,
                       std::uint64_t order) {
    running.outputs = left(what);
    running.outputs.push_back(left(checkpoint).front());
    running.outputs.back().kind = OutputKind::checkpoint;
    running.outputs.back().order = order;
    launcher.observe(n1, running);
    return replaced(launcher, attempt(job));
  };
  EXPECT_THAT(say("1", "a", 1), testing::IsEmpty());
  EXPECT_THAT(say("2", "a", 1), testing::ElementsAre(sha256("1")));
  EXPECT_THAT(say("2", "b", 2), testing::ElementsAre(sha256("a")));
  EXPECT_THAT(say("2", "b", 2), testing::IsEmpty());
  launcher.observe(n1, finished_with(attempt(job), node_exit({rank_exit(0)}), "3"));
  EXPECT_THAT(replaced(launcher, attempt(job)), testing::ElementsAre(sha256("1"), sha256("2")))
      << "the one that is a fact, and the newest";
}

TEST(Outputs, ThatALostNodeHadSentAreKept) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  PartReport running = report(attempt(job), PartState::running);
  for (const char* word : {"1", "2"}) {
    running.outputs = left(word);
    running.outputs[0].pieces = sha256("pieces");
    running.outputs[0].partial = 1;
    launcher.observe(n1, running);
    launcher.drop_notices();
  }
  launcher.pass(launcher.config.node_lost_timeout + seconds(5));
  ASSERT_EQ(launcher.facts<PartGone>().size(), 1U);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, running.outputs);
  launcher.restart();
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, running.outputs);
  for (const Digest& tree : {*running.outputs[0].tree, *running.outputs[0].pieces}) {
    const std::vector<Digest> kept = launcher.core->trees();
    EXPECT_EQ(std::count(kept.begin(), kept.end(), tree), 1) << "no collection takes it";
  }
}

// Its agent died, or its folder became one of which nothing can be kept.
TEST(Outputs, ThatWereSentStayWhenTheNodeNamesThemNoMore) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  PartReport running = report(attempt(job), PartState::running);
  running.outputs = left("1");
  launcher.observe(n1, running);
  launcher.drop_notices();
  running.outputs.clear();
  launcher.observe(n1, running);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, left("1"));
  CollectedOutput lost;
  lost.problems = {"outputs is a symlink to nowhere"};
  running.outputs = {lost};
  launcher.observe(n1, running);
  launcher.drop_notices();
  auto both = left("1");
  both[0].problems = lost.problems;
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, both);
  const auto events = launcher.core->job_events(job, {}).value().events;
  const Why why = OutputNotKept{OutputKind::outputs, "", "outputs is a symlink to nowhere"};
  const auto said = std::count_if(events.begin(), events.end(), [&](const JobEvent& event) {
    return event.what == "OutputNotKept" && event.why == why;
  });
  EXPECT_EQ(said, 1);
}

// ./outputs was sent for hours, and then the launcher had no space for its last version.
TEST(Outputs, ThatTheEndCouldNotKeepAreThoseThatWereSentBefore) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  PartReport running = report(attempt(job), PartState::running);
  CollectedOutput model, data;
  model.kind = data.kind = OutputKind::named;
  model.name = "model";
  data.name = "data";
  model.tree = data.tree = sha256("named");
  for (const char* word : {"first", "last, and no fact yet"}) {
    running.outputs = left(word);
    running.outputs.insert(running.outputs.end(), {model, data});
    launcher.observe(n1, running);
    launcher.drop_notices();
  }
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  CollectedOutput lost;
  lost.problems = {"was not kept: the launcher has no space"};
  model.tree = sha256("whole");
  end.outputs = {lost, model};
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
  auto kept = left("last, and no fact yet");
  kept[0].problems = lost.problems;
  kept[0].problems.emplace_back(
      "the kept version is the one that the node sent before the ranks ended");
  kept.push_back(model);
  const auto expect_kept = [&] {
    EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs, kept);
    const std::vector<Digest> roots = launcher.core->trees();
    EXPECT_EQ(std::count(roots.begin(), roots.end(), *kept[0].tree), 1);
    EXPECT_EQ(std::count(roots.begin(), roots.end(), sha256("named")), 0) << "that is over";
  };
  expect_kept();
  launcher.restart();
  expect_kept();
}

// Facts of an earlier launcher: what was sent before may have been collected as garbage since.
TEST(Outputs, ThatEarlierJournalsForgotStayForgotten) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  CollectedOutput lost;
  lost.problems = {"was not kept"};
  end.outputs = {lost};
  State state = launcher.core->state();
  state.apply(launcher.now, OutputsSoFar{attempt(job), n1.id, left("gone")});
  state.apply(launcher.now, PartChanged{attempt(job), n1.id, end});
  EXPECT_TRUE(state.attempt(attempt(job))->parts[0].so_far.empty());
}

TEST(Outputs, ThatACanceledJobCouldNotKeepAreNamedInItsEnd) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::collecting);
  launcher.drop_notices();
  launcher.cancel(job, "bob");
  EXPECT_EQ(launcher.assignment(n1, attempt(job)).stop_reason, StopReason::canceled);
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  CollectedOutput kept, lost, lost_too;
  kept.kind = OutputKind::logs;
  kept.tree = sha256("kept");
  lost.problems = {"was not kept: the disk is full"};
  lost_too = lost;
  lost_too.kind = OutputKind::named;
  lost_too.name = "model";
  end.outputs = {kept, lost, lost_too};
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::canceled);
  EXPECT_EQ(launcher.view(job).reason,
            "canceled by bob; ./outputs of node n1: was not kept: the disk is full (and 1 more, "
            "see `lockstep job show`)");
}

TEST(Outputs, OfALostNodeAreRefused) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::collecting);
  launcher.drop_notices();
  launcher.pass(launcher.config.node_lost_timeout + seconds(5));
  ASSERT_EQ(launcher.facts<PartGone>().size(), 1U);
  launcher.restart_agent(n1, {finished_with(attempt(job), node_exit({rank_exit(0)}), "late")});
  launcher.drop_notices();
  EXPECT_TRUE(launcher.view(job).attempts[0].parts[0].outputs.empty());
}

TEST(Outputs, AreStillCollectedAfterAReboot) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::running);
  launcher.drop_notices();
  launcher.reboot(n1, {report(attempt(job), PartState::collecting)});
  launcher.drop_notices();
  EXPECT_TRUE(launcher.facts<PartGone>().empty()) << "its ranks had ended before";
  launcher.observe(n1, finished_with(attempt(job), node_exit({rank_exit(0)}), "1"));
  launcher.drop_notices();
  EXPECT_EQ(launcher.status(job), JobStatus::completed);
}

TEST(Outputs, ThatARebootTookAwayAreLostWithTheAttempt) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.observe(n1, attempt(job), PartState::collecting);
  launcher.drop_notices();
  launcher.reboot(n1);
  EXPECT_EQ(launcher.facts<PartGone>().size(), 1U);
  launcher.drop_notices();
}

}  // namespace
}  // namespace lockstep::launcher
