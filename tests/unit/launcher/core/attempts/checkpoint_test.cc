// What ranks saved, as the launcher hears of it, and what the next attempt begins with.

#include "launcher/core/attempts/retry.h"
#include "launcher/state/roots.h"
#include "tests/unit/launcher/core/launcher_fixture.h"

namespace lockstep::launcher {
namespace {

CollectedOutput checkpoint(const std::string& what, std::uint64_t order) {
  CollectedOutput output;
  output.kind = OutputKind::checkpoint;
  output.tree = sha256(what);
  output.files = 1;
  output.order = order;
  return output;
}

struct Checkpoints : ::testing::Test {
  void run(const AttemptId& id, std::vector<FakeNode*> nodes) {
    for (FakeNode* node : nodes) launcher.prepared(*node, id);
    for (FakeNode* node : nodes) {
      launcher.observe(*node, running(id, {}));
      launcher.drop_notices();
    }
  }
  PartReport running(const AttemptId& id, std::vector<CollectedOutput> outputs) {
    PartReport made = report(id, PartState::running);
    made.outputs = std::move(outputs);
    made.restored = restored;
    return made;
  }
  void saves(FakeNode& node, const AttemptId& id, const std::string& what, std::uint64_t order) {
    launcher.observe(node, running(id, {checkpoint(what, order)}));
    launcher.drop_notices();
  }
  FakeNode& node_of(const AttemptId& id) {
    const NodeId node = launcher.placed_on(id).at(0);
    return node == n1.id ? n1 : node == n2.id ? n2 : n3;
  }
  std::optional<CheckpointSource> begin(const AttemptId& id) {
    return launcher.core->state().attempt(id)->checkpoint;
  }
  std::vector<std::pair<int, Digest>> trees(const AttemptId& id) {
    std::vector<std::pair<int, Digest>> found;
    if (const auto source = begin(id))
      for (const NodeTree& tree : source->trees) found.emplace_back(tree.node_rank, tree.root);
    return found;
  }

  TestLauncher launcher;
  FakeNode n1 = launcher.join("n1"), n2 = launcher.join("n2"), n3 = launcher.join("n3");
  std::optional<CollectedOutput> restored;
};
using Trees = std::vector<std::pair<int, Digest>>;

TEST_F(Checkpoints, TheNextAttemptBeginsWithWhatEachNodeSavedLast) {
  const JobId job = launcher.submit(job_spec("job", 2));
  EXPECT_FALSE(begin(attempt(job)).has_value());
  run(attempt(job), {&n1, &n2});
  saves(n1, attempt(job), "a1", 1);
  saves(n2, attempt(job), "b1", 1);
  saves(n1, attempt(job), "a2", 2);
  const Instant saved = launcher.now;
  launcher.pass(seconds(12), {&n1, &n3});  // n2 is lost
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  EXPECT_EQ(trees(attempt(job, 2)), (Trees{{0, sha256("a2")}, {1, sha256("b1")}}));
  EXPECT_EQ(begin(attempt(job, 2))->attempt, 1U);
  EXPECT_EQ(begin(attempt(job, 2))->saved, saved);
  EXPECT_FALSE(begin(attempt(job, 2))->base.has_value());
  EXPECT_EQ(launcher.assignment(n1, attempt(job, 2)).checkpoint, begin(attempt(job, 2)));
  EXPECT_EQ(launcher.assignment(n3, attempt(job, 2)).checkpoint, begin(attempt(job, 2)));
  launcher.restart();
  EXPECT_EQ(trees(attempt(job, 2)).size(), 2U);
}

TEST_F(Checkpoints, WhatIsCollectedAtTheEndIsTheNewest) {
  const JobId job = launcher.submit(job_spec("job"));
  run(attempt(job), {&n1});
  saves(n1, attempt(job), "early", 1);
  PartReport end = report(attempt(job), PartState::finished);
  end.exit = node_failure(Cause::runner_lost, "killed");
  end.outputs = {checkpoint("at the end", 9)};
  launcher.observe(n1, end);
  launcher.drop_notices();
  EXPECT_EQ(trees(attempt(job, 2)), (Trees{{0, sha256("at the end")}}));
}

TEST_F(Checkpoints, ALateOrDoubledWordDoesNotGoBack) {
  const JobId job = launcher.submit(job_spec("job"));
  run(attempt(job), {&n1});
  saves(n1, attempt(job), "first", 1);
  saves(n1, attempt(job), "second", 2);
  saves(n1, attempt(job), "first", 1);
  saves(n1, attempt(job), "second", 2);
  EXPECT_EQ(launcher.facts<CheckpointSaved>().size(), 2U);
  launcher.finished(n1, attempt(job), node_failure(Cause::runner_lost, "killed"));
  EXPECT_EQ(trees(attempt(job, 2)), (Trees{{0, sha256("second")}}));
}

TEST_F(Checkpoints, AnAttemptThatSavedNothingChangesNothing) {
  const JobId job = launcher.submit(job_spec("job"));
  run(attempt(job), {&n1});
  saves(n1, attempt(job), "kept", 1);
  launcher.finished(n1, attempt(job), node_failure(Cause::runner_lost, "killed"));
  const auto node = launcher.placed_on(attempt(job, 2));
  launcher.finished(n2, attempt(job, 2), node_failure(Cause::workspace_failed, "disk full"));
  EXPECT_EQ(trees(attempt(job, 3)), (Trees{{0, sha256("kept")}}));
  EXPECT_EQ(begin(attempt(job, 3))->attempt, 1U);
}

TEST_F(Checkpoints, ChangesAreToldFromWhatTheAttemptItselfBeganWith) {
  const JobId job = launcher.submit(job_spec("job"));
  run(attempt(job), {&n1});
  saves(n1, attempt(job), "one", 1);
  launcher.finished(n1, attempt(job), node_failure(Cause::runner_lost, "killed"));
  restored = checkpoint("joined", 0);
  restored->files = 3;
  restored->size = kibibytes(7);
  run(attempt(job, 2), {&n2});
  EXPECT_EQ(launcher.view(job).attempts[1].checkpoint->files, 3U);
  EXPECT_EQ(launcher.view(job).attempts[1].checkpoint->size, kibibytes(7));
  saves(n2, attempt(job, 2), "two", 1);
  launcher.finished(n2, attempt(job, 2), node_failure(Cause::runner_lost, "killed"));
  EXPECT_EQ(begin(attempt(job, 3))->base, sha256("joined"));
  EXPECT_EQ(trees(attempt(job, 3)), (Trees{{0, sha256("two")}}));
  EXPECT_EQ(launcher.view(job).attempts[2].checkpoint->attempt, 2U);
}

TEST_F(Checkpoints, AJobBeginsWithThatOfAnotherUntilItHasSavedItsOwn) {
  const JobId one = launcher.submit(job_spec("one"));
  run(attempt(one), {&n1});
  saves(n1, attempt(one), "of one", 1);
  launcher.finished(n1, attempt(one), node_exit({rank_exit(0)}));
  JobSpec spec = job_spec("two");
  spec.from_checkpoint_of = one;
  const JobId two = launcher.submit(spec);
  EXPECT_EQ(trees(attempt(two)), (Trees{{0, sha256("of one")}}));
  EXPECT_EQ(begin(attempt(two))->job, one);
  std::set<Digest> kept;
  each_root(launcher.core->state(), [&](const Root& root) {
    if (root.job == two) kept.insert(root.tree);
  });
  EXPECT_EQ(kept.count(sha256("of one")), 1U);
  launcher.finished(node_of(attempt(two)), attempt(two),
                    node_failure(Cause::workspace_failed, "disk full"));
  EXPECT_EQ(begin(attempt(two, 2)), begin(attempt(two))) << "it has saved nothing yet";
  restored = checkpoint("joined", 0);
  FakeNode& second = node_of(attempt(two, 2));
  run(attempt(two, 2), {&second});
  saves(second, attempt(two, 2), "of two", 1);
  launcher.finished(second, attempt(two, 2), node_failure(Cause::runner_lost, "killed"));
  EXPECT_EQ(trees(attempt(two, 3)), (Trees{{0, sha256("of two")}}));
  EXPECT_EQ(begin(attempt(two, 3))->job, JobId());
  // Of one that has saved nothing of its own: what it began with.
  spec.name = "three";
  spec.from_checkpoint_of = two;
  launcher.finished(node_of(attempt(two, 3)), attempt(two, 3), node_exit({rank_exit(0)}));
  const JobId three = launcher.submit(spec);
  EXPECT_EQ(begin(attempt(three))->job, two);
  EXPECT_EQ(begin(attempt(three))->attempt, 2U);
  launcher.restart();
  EXPECT_EQ(begin(attempt(three))->job, two);
}

TEST_F(Checkpoints, AJobWithoutOneIsNamed) {
  const JobId one = launcher.submit(job_spec("one"));
  JobSpec spec = job_spec("two");
  spec.from_checkpoint_of = one;
  EXPECT_NE(launcher.submit_refused(spec).message.find("job 'one' has saved no checkpoint"),
            std::string::npos);
  spec.from_checkpoint_of = JobId("none");
  EXPECT_EQ(launcher.submit_refused(spec).code, ErrorCode::not_found);
  EXPECT_EQ(launcher.core->state().jobs().size(), 1U);
}

TEST_F(Checkpoints, ItIsShownWhateverBecameOfTheNode) {
  const JobId job = launcher.submit(job_spec("job"));
  run(attempt(job), {&n1});
  saves(n1, attempt(job), "one", 1);
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs.size(), 1U);
  launcher.pass(seconds(12), {&n2, &n3});
  EXPECT_EQ(launcher.view(job).attempts[0].parts[0].outputs,
            std::vector<CollectedOutput>{checkpoint("one", 1)});
}

TEST_F(Checkpoints, TwoNodesWithTheSameAreOne) {
  const JobId job = launcher.submit(job_spec("job", 2));
  run(attempt(job), {&n1, &n2});
  saves(n2, attempt(job), "same", 5);
  saves(n1, attempt(job), "same", 7);
  launcher.pass(seconds(12), {&n1, &n3});
  launcher.finished(n1, attempt(job), node_exit({terminated(0)}));
  EXPECT_EQ(trees(attempt(job, 2)), (Trees{{0, sha256("same")}}));
}

}  // namespace
}  // namespace lockstep::launcher
