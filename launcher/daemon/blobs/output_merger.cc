#include "launcher/daemon/blobs/output_merger.h"

#include <fmt/format.h>

#include <memory>

#include "common/base/quoted_name.h"
#include "common/domain/data/data_reference.h"
#include "common/snapshot/content/stored_size.h"
#include "common/snapshot/content/walk_meter.h"
#include "common/snapshot/manifest.h"
#include "common/snapshot/subtree.h"

namespace lockstep::launcher {
namespace {

void add_beside(const std::vector<snapshot::Beside>& beside, std::vector<std::string>& problems) {
  for (const snapshot::Beside& one : beside) {
    if (problems.size() == kMaxOutputProblems) {
      problems.push_back(fmt::format("and {} more", beside.size() - kMaxOutputProblems));
      return;
    }
    problems.push_back(fmt::format("{} differs between nodes: that of node rank {} was kept as {}",
                                   quoted_name(one.path), one.node_rank, quoted_name(one.kept_as)));
  }
}

// True if the disk is full, or the launcher is stopping.
bool may_succeed_later(const Error& error) {
  return error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::unavailable;
}

class Merger {
 public:
  Merger(snapshot::BlobStore& store, const MergeOutputs::Output& question,
         const snapshot::Pause& pause)
      : store_(store), objects_(directory_objects(store, pause)), question_(question) {
    output_.name = question.name;
  }

  Result<MergedOutput> run() {
    if (question_.name == kArtifacts) {
      TRY_ASSIGN(output_.tree, artifacts());
    } else if (!question_.trees.empty()) {
      TRY_ASSIGN(output_.tree, merged(question_.trees));
      if (question_.type == OutputType::uri_file) TRY(take_file());
    }
    if (output_.tree) store_.lease(*output_.tree);
    return std::move(output_);
  }

 private:
  Result<Digest> merged(const std::vector<NodeTree>& trees) {
    std::vector<snapshot::Beside> beside;
    TRY_ASSIGN(const Digest root, snapshot::merge_trees(trees, objects_, beside));
    add_beside(beside, output_.problems);
    return root;
  }

  Status take_file() {
    TRY_ASSIGN(snapshot::Subtree file, snapshot::subtree(*output_.tree, question_.name, objects_));
    output_.tree = file.root;
    output_.file = std::move(file.file);
    return {};
  }

  // Makes a folder with ./outputs and ./logs, if they have files.
  Result<std::optional<Digest>> artifacts() {
    snapshot::Directory both;
    const std::pair<std::string_view, const std::vector<NodeTree>*> folders[] = {
        {kLogsFolder, &question_.logs}, {kOutputsFolder, &question_.trees}};
    for (const auto& [name, trees] : folders) {
      if (trees->empty()) continue;
      TRY_ASSIGN(const Digest root, merged(*trees));
      TRY_ASSIGN(const std::string object, objects_.read(root));
      both.entries.push_back(
          {std::string(name), snapshot::EntryKind::directory, 0755, object.size(), root, ""});
    }
    if (both.entries.empty()) return std::optional<Digest>();
    const std::string bytes = encode(both);
    const Digest root = sha256(bytes);
    TRY(objects_.write(root, bytes));
    return std::optional(root);
  }

  snapshot::BlobStore& store_;
  const snapshot::DirectoryObjects objects_;
  const MergeOutputs::Output& question_;
  MergedOutput output_;
};

}  // namespace

snapshot::DirectoryObjects directory_objects(snapshot::BlobStore& store, snapshot::Pause pause) {
  struct Reading {
    explicit Reading(snapshot::Pause pause) : walk(snapshot::bounded_walk(std::move(pause))) {}
    const snapshot::Walk walk;
    snapshot::WalkMeter meter{walk};
  };
  const auto reading = std::make_shared<Reading>(std::move(pause));
  snapshot::DirectoryObjects objects;
  // A small tree may name one folder very often, so each reading counts.
  objects.read = [&store, reading](const Digest& digest) -> Result<std::string> {
    TRY(reading->meter.entry());
    return reading->meter.read(store, digest, 0);
  };
  objects.write = [&store](const Digest& digest, const std::string& bytes) {
    return store.put(digest, bytes);
  };
  return objects;
}

Result<MergedTrees> merge_outputs(snapshot::BlobStore& store, const MergeOutputs& question,
                                  const snapshot::Pause& pause) {
  MergedTrees all;
  for (const MergeOutputs::Output& one : question.outputs) {
    auto merged = Merger(store, one, pause).run();
    if (!merged && may_succeed_later(merged.error())) return merged.error();
    if (!merged) {
      all.outputs.push_back({one.name, {}, {}, {merged.error().message}});
      continue;
    }
    all.outputs.push_back(*std::move(merged));
    const auto& tree = all.outputs.back().tree;
    if (!one.is_registered || !tree) continue;
    auto size = snapshot::stored_size(store, *tree, snapshot::bounded_walk(pause));
    if (!size && may_succeed_later(size.error())) return size.error();
    all.sizes.emplace(one.name, std::move(size));
  }
  return all;
}

}  // namespace lockstep::launcher
