// The checkpoint of an attempt: captured while its ranks run, joined and put back for the next one.

#include <chrono>
#include <thread>

#include "agent/workspace/restore.h"
#include "tests/unit/agent/workspace/collect/collecting.h"

namespace lockstep::agent {
namespace {

struct Checkpointing : Collecting {
  explicit Checkpointing(const std::string& mode = "copy") : Collecting(mode) { stage({}); }

  void save(const std::string& name, const std::string& text) {
    write(std::string(kCheckpointFolder) + "/" + name, text);
  }
  CapturedCheckpoint capture(bool insist = false) {
    auto captured = workspace->capture_checkpoint(job, attempt(), launcher, sink, memory, insist);
    EXPECT_TRUE(captured) << captured.error().message;
    return captured ? *std::move(captured) : CapturedCheckpoint{};
  }
  // Asks until it is at rest.
  CapturedCheckpoint capture_at_rest() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (;;) {
      CapturedCheckpoint captured = capture();
      if (!captured.busy || std::chrono::steady_clock::now() > deadline) return captured;
      std::this_thread::yield();
    }
  }
  // Of the launcher's store, as files.
  std::string read_saved(const Digest& root, const std::string& name) {
    const std::string into = dir / ("saved-" + std::to_string(++reads));
    EXPECT_TRUE(snapshot::materialize(*launcher.store, root, into));
    const auto text = io::read_file(into + "/" + name);
    return text ? *text : "(absent)";
  }

  CheckpointMemory memory;
  int reads = 0;
};

TEST(Checkpoint, ItIsTakenWhenItChangedAndIsAtRest) {
  Checkpointing f;
  EXPECT_FALSE(f.capture().checkpoint.has_value()) << "there is none";
  f.save("model/step", "100");
  EXPECT_TRUE(f.capture().busy) << "it was written this moment";
  EXPECT_EQ(f.sink.pushes, 0);
  const auto first = f.capture_at_rest().checkpoint;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, OutputKind::checkpoint);
  EXPECT_EQ(first->files, 1u);
  EXPECT_EQ(f.read_saved(*first->tree, "model/step"), "100");
  const auto again = f.capture();
  EXPECT_FALSE(again.checkpoint.has_value() || again.busy) << "nothing changed";
  f.save("model/step", "200");
  const auto second = f.capture_at_rest().checkpoint;
  ASSERT_TRUE(second);
  EXPECT_EQ(f.read_saved(*second->tree, "model/step"), "200");
  EXPECT_GT(second->order, first->order);
}

TEST(Checkpoint, InsistingTakesItAsItIs) {
  Checkpointing f;
  f.save("step", "100");
  const auto taken = f.capture(true).checkpoint;
  ASSERT_TRUE(taken);
  EXPECT_EQ(f.read_saved(*taken->tree, "step"), "100");
}

TEST(Checkpoint, WhatChangesOnTheWayIsLookedAtAgain) {
  Checkpointing f;
  f.save("step", "100");
  for (int i = 0; i < 3; ++i)
    f.sink.answers.push_back(make_error(ErrorCode::conflict, "step changed"));
  const CapturedCheckpoint captured = f.capture(true);
  EXPECT_TRUE(captured.busy);
  EXPECT_FALSE(captured.checkpoint.has_value());
  EXPECT_TRUE(f.capture(true).checkpoint.has_value()) << "it was not taken for seen";
}

TEST(Checkpoint, ItIsCollectedAtTheEnd) {
  Checkpointing f;
  f.save("step", "300");
  const CollectedOutput left = f.must_collect(OutputKind::checkpoint, "c");
  EXPECT_EQ(*io::read_file(f.dir / "c/step"), "300");
  EXPECT_GT(left.order, 0u);
}

struct Restoring : Checkpointing {
  using Checkpointing::Checkpointing;
  Digest tree(const std::map<std::string, std::string>& files) {
    const snapshot::TempDir source;
    for (const auto& [name, text] : files) source.file(name, text);
    return capture_and_store(source);
  }
  // A second attempt, staged.
  WorkspacePlan begin(const CheckpointSource& source) {
    Assignment next = assignment(std::nullopt, 2);
    next.checkpoint = source;
    const WorkspacePlan plan = must_stage(next);
    begun = plan.mode == WorkspacePlan::Mode::ready ? attempt(2).code() : attempt(2).upper();
    return plan;
  }
  std::string read(const std::string& name) {
    const auto text = io::read_file(begun + "/" + std::string(kCheckpointFolder) + "/" + name);
    return text ? *text : "(absent)";
  }
  std::string begun;
};

class RestoreIn : public ::testing::TestWithParam<const char*> {};

TEST_P(RestoreIn, AllNodesTreesAreJoined) {
  Restoring f(GetParam());
  CheckpointSource source;
  source.attempt = 1;
  source.base = f.tree({{"step", "100"}, {"old", "o"}});
  source.trees = {{0, f.tree({{"step", "100"}, {"old", "o"}, {"rank0", "0"}})},
                  {1, f.tree({{"step", "200"}})}};
  const WorkspacePlan plan = f.begin(source);
  EXPECT_EQ(f.read("step"), "200");
  EXPECT_EQ(f.read("rank0"), "0");
  EXPECT_EQ(f.read("old"), "(absent)");
  ASSERT_TRUE(plan.restored);
  EXPECT_EQ(plan.restored->files, 2u);
  EXPECT_EQ(plan.restored->size.count, 4u);
  EXPECT_EQ(f.begin(source).restored->tree, plan.restored->tree) << "again";
  EXPECT_EQ(f.read("step"), "200");
}

// A node that comes to the job only with the third attempt needs the tree that the second one began
// with, which no node need have captured.
TEST_P(RestoreIn, TheJoinedTreeIsAtTheLauncher) {
  Restoring f(GetParam());
  CheckpointSource source;
  source.trees = {{0, f.tree({{"a", "1"}})}, {1, f.tree({{"b", "2"}})}};
  const auto plan = f.begin(source);
  ASSERT_TRUE(plan.restored && plan.restored->tree);
  const auto lacking = f.launcher.store->missing_blobs_from(*plan.restored->tree);
  ASSERT_TRUE(lacking);
  EXPECT_TRUE(lacking->empty());
}

TEST_P(RestoreIn, WhatTheResultLacksIsNotFetched) {
  Restoring f(GetParam());
  CheckpointSource source;
  source.base = f.tree({{"huge-old-file", "of the attempt before"}});
  source.trees = {{0, f.tree({{"a", "1"}})}, {1, f.tree({{"b", "2"}})}};
  f.begin(source);
  const auto& fetched = f.launcher.fetched;
  EXPECT_EQ(std::count(fetched.begin(), fetched.end(), sha256("of the attempt before")), 0);
  EXPECT_EQ(f.read("a") + f.read("b"), "12");
}

INSTANTIATE_TEST_SUITE_P(Mode, RestoreIn, ::testing::Values("copy", "overlay"));

TEST(Restore, ABlobThatIsGoneIsSaid) {
  Restoring f;
  Assignment next = f.assignment(std::nullopt, 2);
  next.checkpoint.emplace();
  next.checkpoint->attempt = 7;
  next.checkpoint->trees = {{0, sha256("never stored")}};
  const auto plan = f.workspace->stage(next, f.attempt(2), f.launcher, f.progress);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("cannot restore the checkpoint of attempt 7"),
            std::string::npos)
      << plan.error().message;
}

}  // namespace
}  // namespace lockstep::agent
