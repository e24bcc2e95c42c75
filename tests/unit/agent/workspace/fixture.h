#pragma once
// A workspace, and a fake launcher that is only a second blob store.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/workspace/workspace.h"
#include "common/snapshot/content/reachable.h"
#include "tests/unit/common/snapshot/trees.h"

namespace lockstep::agent {

class FakeSource final : public BlobSource {
 public:
  explicit FakeSource(const std::string& path) : store(*snapshot::BlobStore::open(path)) {}

  Status fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                    const transfer::OnProgress& progress, const transfer::Admit& admit) override {
    ++fetches;
    bool is_asked = false;
    for (;;) {
      TRY_ASSIGN(const auto wanted, cache.missing_blobs_from(root));
      if (wanted.empty()) return {};
      const bool has_folders = std::none_of(wanted.begin(), wanted.end(),
                                            [](const auto& blob) { return blob.directory; });
      if (admit && has_folders && !std::exchange(is_asked, true)) {
        Bytes missing;
        for (const auto& blob : wanted) missing.count += blob.size;
        TRY(admit(missing));
      }
      for (const auto& blob : wanted) {
        TRY_ASSIGN(const std::string raw, store->get(blob.digest));
        TRY(cache.put(blob.digest, raw));
      }
      progress({3 << 20, 12 << 20});
    }
  }

  Status fetch(const Digest& root, const std::vector<snapshot::BlobWanted>& wanted,
               snapshot::BlobStore& cache, const transfer::OnProgress&) override {
    const auto below = snapshot::reachable_from(*store, root);
    EXPECT_TRUE(below);
    for (const auto& blob : wanted) {
      EXPECT_TRUE(below->has(blob.digest)) << "a launcher would not give it";
      TRY_ASSIGN(const std::string raw, store->get(blob.digest));
      TRY(cache.put(blob.digest, raw));
      fetched.push_back(blob.digest);
    }
    return {};
  }

  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress&) override {
    snapshot::store_all(tree, *store);
    return {};
  }

  std::vector<Digest> fetched;  // blobs that were fetched one by one, not as trees
  std::unique_ptr<snapshot::BlobStore> store;
  std::atomic<int> fetches{0};
};

struct Fixture {
  explicit Fixture(const std::string& mode) {
    EXPECT_EQ(::chmod(dir.path().c_str(), 0755), 0);
    auto opened = Workspace::open({dir / "cache", mode});
    EXPECT_TRUE(opened) << opened.error().message;
    workspace = *std::move(opened);
  }

  Digest capture_and_store(const snapshot::TempDir& source) {
    auto captured = snapshot::capture(source.path(), {});
    EXPECT_TRUE(captured) << captured.error().message;
    snapshot::store_all(*captured, *launcher.store);
    return captured->root;
  }
  Assignment assignment(std::optional<Digest> snapshot, std::uint32_t number = 1,
                        const std::string& run_as = "") {
    Assignment made;
    made.attempt = {JobId("some_job"), number};
    made.spec.snapshot = snapshot;
    made.spec.run_as = run_as;
    return made;
  }
  io::AttemptDir attempt(std::uint32_t number = 1) {
    return io::AttemptDir(dir / ("attempts/some_job." + std::to_string(number)));
  }
  WorkspacePlan must_stage(const Assignment& assignment) {
    const auto plan =
        workspace->stage(assignment, attempt(assignment.attempt.number), launcher, progress);
    EXPECT_TRUE(plan) << plan.error().message;
    return plan ? *plan : WorkspacePlan{};
  }

  snapshot::TempDir dir;
  FakeSource launcher{dir / "launcher"};
  std::unique_ptr<Workspace> workspace;
  std::vector<std::string> told;
  Workspace::OnProgress progress = [this](const std::string& text) { told.push_back(text); };
};

}  // namespace lockstep::agent
