// Costs of a snapshot: an unchanged tree, a store with many small blobs, a cached staging. Absolute
// times hold for one machine only; compare runs of one machine.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "agent/workspace/workspace.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/snapshot-bench-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { static_cast<void>(io::remove_tree(path_)); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A tree of `count` files, old enough for the stat cache; made once per size.
const std::string& tree_of(int count) {
  static std::map<int, std::unique_ptr<Folder>> trees;
  std::unique_ptr<Folder>& folder = trees[count];
  if (folder) return folder->path();
  folder = std::make_unique<Folder>();
  for (int i = 0; i < count; ++i) {
    const std::string sub = *folder / fmt::format("package{}", i % (count / 20 + 1));
    static_cast<void>(io::make_directories(sub));
    std::string text;
    for (int line = 0; line < 100; ++line) text += fmt::format("value_{} = {}\n", i, line * i);
    static_cast<void>(
        io::write_file_atomically(fmt::format("{}/m{}.py", sub, i), text, 0644, false));
  }
  ::usleep(2'100'000);
  return folder->path();
}

void unchanged_capture(benchmark::State& state) {
  const std::string& tree = tree_of(static_cast<int>(state.range(0)));
  Folder caches;
  snapshot::CaptureOptions options;
  options.stat_cache = caches / "cache";
  static_cast<void>(snapshot::capture(tree, options));
  for (auto _ : state) {
    const auto captured = snapshot::capture(tree, options);
    if (!captured || captured->files_read != 0) state.SkipWithError("files were read");
  }
}
BENCHMARK(unchanged_capture)->Arg(1'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void first_capture(benchmark::State& state) {
  const std::string& tree = tree_of(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(snapshot::capture(tree, {}));
}
BENCHMARK(first_capture)->Arg(20'000)->Unit(benchmark::kMillisecond);

// The peer for unchanged_capture: git on the same tree.
void git_status(benchmark::State& state) {
  const std::string& tree = tree_of(static_cast<int>(state.range(0)));
  Folder repository;
  const std::string git =
      fmt::format("cd {} && git --git-dir={}/git --work-tree=. ", tree, repository.path());
  const std::string prepare = git + "init -q && " + git + "add -A";
  if (std::system(prepare.c_str()) != 0) state.SkipWithError("no git");
  const std::string status = git + "status --porcelain >/dev/null";
  for (auto _ : state) {
    if (std::system(status.c_str()) != 0) state.SkipWithError("git status failed");
  }
}
BENCHMARK(git_status)->Arg(1'000)->Arg(20'000)->Unit(benchmark::kMillisecond);

void put_small_blobs(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Folder folder;
    auto store = *snapshot::BlobStore::open(folder / "blobs");
    state.ResumeTiming();
    for (int i = 0; i < state.range(0); ++i) {
      const std::string raw = fmt::format("{:04000}", i);
      static_cast<void>(store->put(sha256(raw), raw));
    }
    static_cast<void>(store->sync());
  }
}
BENCHMARK(put_small_blobs)->Arg(20'000)->Unit(benchmark::kMillisecond);

class NoSource final : public agent::BlobSource {
 public:
  Status fetch_tree(const Digest&, snapshot::BlobStore&, const transfer::OnProgress&,
                    const transfer::Admit&) override {
    return nothing();
  }
  Status fetch(const Digest&, const std::vector<snapshot::BlobWanted>&, snapshot::BlobStore&,
               const transfer::OnProgress&) override {
    return nothing();
  }
  Status push(const snapshot::Snapshot&, const transfer::OnProgress&) override { return nothing(); }

 private:
  static Status nothing() {
    return make_error(ErrorCode::internal, "nothing is fetched or sent here");
  }
};

void staging(benchmark::State& state, const char* mode) {
  const auto captured = snapshot::capture(tree_of(1'000), {});
  Folder folder;
  {
    const auto store = *snapshot::BlobStore::open(folder / "cache/blobs");
    for (const auto& object : captured->directories) {
      static_cast<void>(store->put(object.digest, object.bytes));
    }
    for (const auto& file : captured->files) {
      const auto raw = io::read_file(captured->directory + "/" + file.path);
      static_cast<void>(store->put(file.digest, *raw));
    }
  }
  const auto workspace = *agent::Workspace::open({folder / "cache", mode});
  Assignment assignment;
  assignment.spec.snapshot = captured->root;
  assignment.attempt.job = JobId("bench");
  NoSource source;
  const auto stage = [&] {
    assignment.attempt.number++;
    const io::AttemptDir attempt(folder / io::AttemptDir::name_of(assignment.attempt));
    if (!workspace->stage(assignment, attempt, source, {})) state.SkipWithError("staging failed");
  };
  stage();  // writes the tree
  for (auto _ : state) stage();
}
BENCHMARK_CAPTURE(staging, overlay, "overlay")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(staging, copy, "copy")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lockstep

BENCHMARK_MAIN();
