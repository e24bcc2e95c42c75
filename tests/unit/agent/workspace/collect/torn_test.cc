// Files that ranks were rewriting when they were killed: none is taken for what they wanted to
// write, and what only grew, was replaced, or was written by a rank that ended by itself is as it
// is.

#include <chrono>
#include <cstdio>
#include <thread>

#include "common/io/clock.h"
#include "common/snapshot/live/pieces.h"
#include "tests/unit/agent/workspace/collect/collecting.h"

namespace lockstep::agent {
namespace {

using std::chrono::steady_clock;

struct Torn : Collecting {
  Torn() : Collecting("copy") {
    job = assignment({});
    stage({});
  }
  // In place, as open(path, "w") and open(path, "a") do.
  void write_in_place(const std::string& name, const std::string& text, const char* how = "w") {
    std::FILE* const file = std::fopen((written + "/" + name).c_str(), how);
    ASSERT_NE(file, nullptr) << name;
    EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
  }
  // Until all is at rest, and the launcher has it.
  void send_so_far(std::uint64_t files) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(30);
    bool sent = false;
    while (!sent && steady_clock::now() < deadline) {
      const auto captured = workspace->capture_so_far(job, attempt(), launcher, sink, so_far);
      ASSERT_TRUE(captured) << captured.error().message;
      sent =
          !captured->empty() && captured->front().partial == 0 && captured->front().files == files;
      if (!sent) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ASSERT_TRUE(sent);
  }
  void send_checkpoint() {
    const auto deadline = steady_clock::now() + std::chrono::seconds(30);
    bool sent = false;
    while (!sent && steady_clock::now() < deadline) {
      const auto captured =
          workspace->capture_checkpoint(job, attempt(), launcher, sink, checkpoint, false);
      ASSERT_TRUE(captured) << captured.error().message;
      sent = captured->checkpoint.has_value();
      if (!sent) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ASSERT_TRUE(sent);
  }
  CollectedOutput end(OutputKind kind, std::vector<Instant> killed) {
    const auto all = workspace->collect(job, attempt(), launcher, sink, progress,
                                        {std::move(killed), &so_far, &checkpoint});
    EXPECT_TRUE(all) << all.error().message;
    for (const CollectedOutput& output : all->outputs)
      if (output.kind == kind) return output;
    ADD_FAILURE() << "no such output";
    return {};
  }
  std::vector<Instant> now() { return {io::wall_clock()}; }
  // As readers see it, with the files that are sent in pieces.
  std::string read(const CollectedOutput& output, const std::string& name) {
    Digest root = *output.tree;
    auto& store = *launcher.store;
    EXPECT_TRUE(store.missing_from(root)->empty());
    if (output.pieces) {
      EXPECT_TRUE(store.missing_from(*output.pieces)->empty());
      snapshot::DirectoryObjects objects;
      objects.read = [&](const Digest& digest) { return store.get(digest); };
      objects.write = [&](const Digest& digest, const std::string& bytes) {
        return store.put(digest, bytes);
      };
      const auto list = snapshot::decode_pieces(*output.pieces, objects.read);
      EXPECT_TRUE(list);
      const auto joined = [&](const snapshot::PiecedFile& file,
                              const std::string&) -> Result<Digest> {
        std::string content;
        for (const auto& piece : file.pieces) content += *store.get(piece.digest);
        EXPECT_TRUE(store.put(sha256(content), content));
        return sha256(content);
      };
      root = *snapshot::put_in_pieces(root, *list, objects, joined);
    }
    const std::string into = dir / ("seen-" + std::to_string(++reads));
    EXPECT_TRUE(snapshot::materialize(store, root, into));
    const auto text = io::read_file(into + "/" + name);
    return text ? *text : "(absent)";
  }

  SoFarMemory so_far;
  CheckpointMemory checkpoint;
  int reads = 0;
};

TEST(Torn, TheLastCompleteVersionStaysAndTheUnfinishedOneIsPartial) {
  Torn f;
  f.write("outputs/run/model.pt", "complete");
  f.write("outputs/other", "1");
  f.send_so_far(2);
  f.write_in_place("outputs/run/model.pt", "hal");
  const CollectedOutput left = f.end(OutputKind::outputs, f.now());
  EXPECT_EQ(f.read(left, "run/model.pt"), "complete");
  EXPECT_EQ(f.read(left, "run/model.pt.partial"), "hal");
  EXPECT_EQ(f.read(left, "other"), "1");
  EXPECT_EQ(left.partial, 1u);
  ASSERT_EQ(left.problems.size(), 1u);
  EXPECT_NE(left.problems[0].find("run/model.pt"), std::string::npos) << left.problems[0];
  EXPECT_TRUE(snapshot::materialize(*f.launcher.store, *left.tree, f.dir / "alone"));
  EXPECT_EQ(*io::read_file(f.dir / "alone/run/model.pt"), "complete") << "without the pieces too";
}

TEST(Torn, EmptiedFilesAndThoseInPieces) {
  Torn f;
  const std::string large(300'000, 'x');
  f.write("outputs/large", large);
  f.write("outputs/emptied", "complete");
  (void)f.workspace->capture_so_far(f.job, f.attempt(), f.launcher, f.sink, f.so_far);
  f.write_in_place("outputs/large", large, "a");
  f.send_so_far(2);
  f.write_in_place("outputs/large", "PK");
  f.write_in_place("outputs/emptied", "");
  const CollectedOutput left = f.end(OutputKind::outputs, f.now());
  EXPECT_EQ(f.read(left, "large"), large + large);
  EXPECT_EQ(f.read(left, "large.partial"), "PK");
  EXPECT_EQ(f.read(left, "emptied"), "complete");
  EXPECT_EQ(f.read(left, "emptied.partial"), "");
}

TEST(Torn, WhatGrewWasReplacedOrIsNewIsAsItIs) {
  Torn f;
  f.write("outputs/metrics.csv", "1\n");
  f.write("outputs/replaced", "old");
  f.write("logs/state", "old");
  f.send_so_far(2);
  f.write_in_place("outputs/metrics.csv", "2\n", "a");
  f.write("outputs/replaced", "new");  // by a rename
  f.write("outputs/fresh", "new");
  f.write_in_place("logs/state", "new");
  const CollectedOutput left = f.end(OutputKind::outputs, f.now());
  EXPECT_FALSE(left.pieces.has_value());
  ASSERT_EQ(left.problems.size(), 1u) << "of the new one alone";
  EXPECT_EQ(left.problems[0],
            "fresh was being written when a rank was killed, and may be unfinished");
  EXPECT_EQ(left.partial, 0u);
  EXPECT_EQ(f.read(left, "metrics.csv"), "1\n2\n");
  EXPECT_EQ(f.read(left, "replaced"), "new");
  EXPECT_EQ(f.read(left, "fresh"), "new");
  EXPECT_EQ(f.read(f.end(OutputKind::logs, f.now()), "state"), "new");
}

TEST(Torn, ARankThatEndsByItselfOrDiedLongBeforeTheWriteToreNothing) {
  Torn f;
  f.write("outputs/state", "running");
  f.send_so_far(1);
  f.write_in_place("outputs/state", "failed");
  EXPECT_EQ(f.read(f.end(OutputKind::outputs, {}), "state"), "failed");
  const std::vector<Instant> others = {io::wall_clock() - seconds(5),
                                       io::wall_clock() + minutes(1)};
  EXPECT_EQ(f.read(f.end(OutputKind::outputs, others), "state"), "failed");
}

TEST(Torn, TheCheckpointBeforeIsTheOneToResumeFrom) {
  Torn f;
  const std::string folder(kCheckpointFolder);
  f.write(folder + "/last.pt", "step 100");
  f.write(folder + "/events", "1\n");
  f.send_checkpoint();
  f.write_in_place(folder + "/last.pt", "st");
  f.write_in_place(folder + "/events", "2\n", "a");
  const CollectedOutput left = f.end(OutputKind::checkpoint, f.now());
  EXPECT_EQ(f.read(left, "last.pt"), "step 100");
  EXPECT_EQ(left.order, f.checkpoint.told->order);
  EXPECT_EQ(left.problems.size(), 1u);
  EXPECT_EQ(f.read(f.end(OutputKind::checkpoint, {}), "last.pt"), "st") << "by a rank that ended";
}

TEST(Torn, ACheckpointThatOnlyGrewIsTheNewest) {
  Torn f;
  const std::string folder(kCheckpointFolder);
  f.write(folder + "/runs/events", "1\n");
  f.send_checkpoint();
  f.write_in_place(folder + "/runs/events", "2\n", "a");
  f.write(folder + "/epoch-2.pt", "step 200");
  const CollectedOutput left = f.end(OutputKind::checkpoint, f.now());
  EXPECT_EQ(f.read(left, "runs/events"), "1\n2\n");
  EXPECT_EQ(f.read(left, "epoch-2.pt"), "step 200");
  ASSERT_EQ(left.problems.size(), 1u);
  EXPECT_EQ(left.problems[0],
            "epoch-2.pt was being written when a rank was killed, and may be unfinished");
}

TEST(Torn, AnAgentThatWasStartedAnewSaysWhatMayBeUnfinished) {
  Torn f;
  f.write("outputs/model.pt", "complete");
  f.send_so_far(1);
  f.write_in_place("outputs/model.pt", "hal");
  f.so_far = {};
  const CollectedOutput left = f.end(OutputKind::outputs, f.now());
  EXPECT_EQ(f.read(left, "model.pt"), "hal");
  ASSERT_EQ(left.problems.size(), 1u);
  EXPECT_NE(left.problems[0].find("may be unfinished"), std::string::npos) << left.problems[0];
}

}  // namespace
}  // namespace lockstep::agent
