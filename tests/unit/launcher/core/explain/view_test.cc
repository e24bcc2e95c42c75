// The pictures for people.

#include "common/domain/why/jobs/waits.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

TEST(Views, JobsAreListedNewestFirstWithTheirPlaceInTheQueue) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  launcher.submit(job_spec("a"));
  launcher.submit(job_spec("b"));
  launcher.submit(job_spec("c"));
  const std::vector<JobView> views = launcher.core->job_views();
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[0].spec.name, "c");
  EXPECT_EQ(views[0].queue_position, 2);
  EXPECT_EQ(views[1].queue_position, 1);
  EXPECT_EQ(views[2].queue_position, 0);
}

TEST(Views, AnAttemptShowsItsPartsByNodeRank) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  FakeNode n2 = launcher.join("n2");
  const JobId job = launcher.submit(job_spec("job", 2, 3));
  const AttemptView view = launcher.view(job).attempts.at(0);
  EXPECT_EQ(view.placed, launcher.now);
  ASSERT_EQ(view.parts.size(), 2U);
  EXPECT_EQ(view.parts[1].node_name, "n2");
  EXPECT_EQ(view.parts[1].first_rank, 3);
  EXPECT_EQ(view.parts[1].ranks, 3);
  EXPECT_EQ(view.parts[1].progress, "the node has not answered yet");
}

// A list of jobs on a thousand nodes had sixteen addresses of each, and the end of each rank.
TEST(Views, AnOutlineHasNoAddressesAndNoEndsOfRanks) {
  TestLauncher launcher;
  Inventory with_network = inventory();
  with_network.address = "10.93.0.1";
  FakeNode n1 = launcher.join("n1", with_network);
  const JobId job = launcher.submit(job_spec("job", 1, 2));
  launcher.run_solo(n1, attempt(job), node_exit({rank_exit(0), rank_exit(1)}));
  launcher.drop_notices();
  PartView whole = launcher.view(job).attempts.at(0).parts.at(0);
  EXPECT_EQ(whole.addresses, std::vector<std::string>{"10.93.0.1"});
  EXPECT_EQ(whole.ended.size(), 2U);
  whole.addresses.clear();
  whole.ended.clear();
  const auto outline = launcher.core->job_view(job, ViewDetail::outline);
  EXPECT_EQ(outline->attempts.at(0).parts.at(0), whole) << "all else is in it";
  EXPECT_EQ(launcher.core->job_views().at(0).attempts.at(0).parts.at(0), whole);
}

TEST(Views, AJobThatIsPreparedShowsHowFarItsNodesAre) {
  TestLauncher launcher;
  std::vector<FakeNode> nodes;
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) nodes.push_back(launcher.join(name));
  const JobId job = launcher.submit(job_spec("job", 5));
  for (const std::size_t number : {0U, 2U}) {
    PartReport staging = report(attempt(job), PartState::staging);
    staging.progress = number == 0 ? "building: link 3/12 packages" : "";
    launcher.observe(nodes[number], staging);
    launcher.drop_notices();
  }
  EXPECT_EQ(launcher.why(job),
            (WaitsForParts{{{"n1", PartState::staging, "building: link 3/12 packages"},
                            {"n2", PartState::staging, "the node has not answered yet"},
                            {"n3", PartState::staging, ""}},
                           2}));
}

TEST(Views, ANodeThatIsPreparedIsNotWaitedFor) {
  TestLauncher launcher;
  std::vector<FakeNode> nodes;
  for (const char* name : {"n1", "n2"}) nodes.push_back(launcher.join(name));
  const JobId job = launcher.submit(job_spec("job", 2));
  PartReport staging = report(attempt(job), PartState::staging);
  const auto say = [&](std::size_t node, const std::string& words) {
    staging.progress = words;
    launcher.observe(nodes[node], staging);
    launcher.drop_notices();
  };
  say(0, "solving:   Downloading scipy-1.11.4-cp311-cp311-manylinux.whl (36.4 MB)");
  say(1, "building: install packages 1120/1340 now");
  EXPECT_EQ(launcher.why(job).as<WaitsForParts>()->parts.size(), 2U);
  launcher.observe(nodes[1], attempt(job), PartState::prepared);
  launcher.drop_notices();
  const std::string said =
      "solving:   Downloading scipy-1.11.4-cp311-cp311-manylinux.whl (36.4 MB)";
  EXPECT_EQ(launcher.why(job), (WaitsForParts{{{"n1", PartState::staging, said}}, 0}));
}

TEST(Views, AnAttemptHasStartedWhenItsFirstPartDid) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  EXPECT_EQ(launcher.view(job).attempts.at(0).started, Instant{});
  PartReport running = report(attempt(job), PartState::running);
  running.started = launcher.now;
  launcher.observe(n1, running);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.at(0).started, launcher.now);
}

// All were killed: the node's next agent tells of an end that no runner reported.
TEST(Views, WhenItStartedIsNotForgottenByAReportThatDoesNotKnow) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  PartReport running = report(attempt(job), PartState::running);
  running.started = Instant{7};
  launcher.observe(n1, running);
  launcher.drop_notices();
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_failure(Cause::runner_lost, "it died");
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.at(0).started, Instant{7});
}

TEST(Views, WhenItStartedMayComeWithItsEndAlone) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_exit({rank_exit(0)});
  end.exit->started = Instant{7};
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(launcher.view(job).attempts.at(0).started, Instant{7});
}

TEST(Views, ANodeShowsWhatRunsThereAndWhenItWasHeard) {
  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1");
  const JobId job = launcher.submit(job_spec("job"));
  launcher.tick(milliseconds(700));
  launcher.beat(n1);
  const NodeView view = launcher.core->node_view("n1").value();
  EXPECT_EQ(view.attempts, std::vector<AttemptId>{attempt(job)});
  EXPECT_EQ(view.last_heard, launcher.now);
  EXPECT_EQ(view.inventory.hostname, "n1");
  EXPECT_FALSE(view.why);
  EXPECT_EQ(launcher.core->node_views().size(), 1U);
}

TEST(Views, OfWhatDoesNotExistAreAbsent) {
  TestLauncher launcher;
  EXPECT_FALSE(launcher.core->job_view(JobId("ghost")).has_value());
  EXPECT_FALSE(launcher.core->explain(JobId("ghost")).has_value());
  EXPECT_TRUE(launcher.core->nodes_of(attempt(JobId("ghost"))).empty());
}

}  // namespace
}  // namespace lockstep::launcher
