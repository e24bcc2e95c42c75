#pragma once
// A staged attempt whose files the test writes in place of ranks, and the launcher's store that
// receives its outputs.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workspace/collect/collect.h"
#include "common/snapshot/capture/entry_io.h"
#include "common/wire/runners/runner_codec.h"
#include "tests/unit/agent/workspace/fixture.h"

namespace lockstep::agent {

// The launcher's store. It answers pushes with `answers` first, and reports files that changed.
class FakeSink final : public OutputSink {
 public:
  explicit FakeSink(snapshot::BlobStore& store) : store_(store) {}
  Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) override {
    ++pushes;
    if (!answers.empty()) {
      Status answer = answers.front();
      answers.erase(answers.begin());
      if (!answer) return answer;
    }
    for (const auto& object : tree.directories) TRY(store_.put(object.digest, object.bytes));
    for (const auto& file : tree.files) {
      const io::Fd fd = snapshot::open_entry(tree.opened->get(), file.path, O_RDONLY | O_NOFOLLOW);
      std::string content(file.size, '\0');
      sent += store_.has(file.digest) ? 0 : file.size;
      if (::pread(fd.get(), content.data(), content.size(), static_cast<off_t>(file.offset)) !=
          static_cast<ssize_t>(file.size))
        return make_error(ErrorCode::conflict, file.path + " changed");
      TRY(store_.put(file.digest, content));
    }
    progress({1 << 20, 2 << 20});
    return store_.sync();
  }
  std::vector<Status> answers;
  int pushes = 0;
  std::uint64_t sent = 0;  // bytes of blobs that the store lacked

 private:
  snapshot::BlobStore& store_;
};

struct Collecting : Fixture {
  explicit Collecting(const std::string& mode) : Fixture(mode) {}

  void stage(std::optional<Digest> snapshot) {
    job = assignment(snapshot);
    const WorkspacePlan plan = must_stage(job);
    put(attempt().workspace(), wire::encode(plan));
    written = plan.mode == WorkspacePlan::Mode::ready ? attempt().code() : attempt().upper();
    for (const char* folder : {"outputs", "logs"})
      if (plan.mode == WorkspacePlan::Mode::ready || plan.tree.empty() ||
          !io::exists(plan.tree + "/" + folder))
        ::mkdir((written + "/" + folder).c_str(), 0755);
    for (const OutputSpec& output : job.spec.outputs)
      EXPECT_TRUE(io::make_directories(written + "/" + named_output_folder(output.name)));
  }
  static void put(const std::string& path, const std::string& text) {
    EXPECT_TRUE(io::make_directories(path.substr(0, path.rfind('/'))));
    EXPECT_TRUE(io::write_file_atomically(path, text, 0644, false));
  }
  void write(const std::string& name, const std::string& text) { put(written + "/" + name, text); }

  Result<std::vector<CollectedOutput>> collect() {
    TRY_ASSIGN(Collected collected, workspace->collect(job, attempt(), launcher, sink, progress));
    not_kept = std::move(collected.not_kept);
    return std::move(collected.outputs);
  }
  // The first output of this kind; its tree is materialised into dir/`into` unless that is "".
  CollectedOutput must_collect(OutputKind kind, const std::string& into = "") {
    const auto all = collect();
    EXPECT_TRUE(all) << all.error().message;
    for (const CollectedOutput& output : *all) {
      if (output.kind != kind) continue;
      if (output.tree && !into.empty()) {
        EXPECT_TRUE(launcher.store->missing_from(*output.tree)->empty());
        EXPECT_TRUE(snapshot::materialize(*launcher.store, *output.tree, dir / into));
      }
      return output;
    }
    ADD_FAILURE() << "no such output";
    return {};
  }

  Assignment job;
  std::string written;
  std::optional<NotKept> not_kept;  // of the last collect()
  FakeSink sink{*launcher.store};
};

}  // namespace lockstep::agent
