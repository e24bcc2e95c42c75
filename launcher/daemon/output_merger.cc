#include "launcher/daemon/output_merger.h"

#include <fmt/format.h>

#include "common/base/quoted_name.h"
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

Result<MergedOutput> merge_one(snapshot::BlobStore& store, const MergeOutputs::Output& question) {
  MergedOutput output;
  output.name = question.name;
  if (question.trees.empty()) return output;
  const snapshot::DirectoryObjects objects = directory_objects(store);
  std::vector<snapshot::Beside> beside;
  TRY_ASSIGN(const Digest root, snapshot::merge_trees(question.trees, objects, beside));
  add_beside(beside, output.problems);
  output.tree = root;
  if (question.type == OutputType::uri_file) {
    TRY_ASSIGN(snapshot::Subtree file, snapshot::subtree(root, question.name, objects));
    output.tree = file.root;
    output.file = std::move(file.file);
  }
  store.lease(*output.tree);
  return output;
}

}  // namespace

snapshot::DirectoryObjects directory_objects(snapshot::BlobStore& store) {
  snapshot::DirectoryObjects objects;
  objects.read = [&store](const Digest& digest) {
    return store.get(digest, Bytes{snapshot::kMaxDirectoryObjectBytes});
  };
  objects.write = [&store](const Digest& digest, const std::string& bytes) {
    return store.put(digest, bytes);
  };
  return objects;
}

Result<std::vector<MergedOutput>> merge_outputs(snapshot::BlobStore& store,
                                                const MergeOutputs& question) {
  std::vector<MergedOutput> outputs;
  for (const MergeOutputs::Output& one : question.outputs) {
    auto merged = merge_one(store, one);
    if (!merged && merged.error().code == ErrorCode::resource_exhausted) return merged.error();
    if (merged)
      outputs.push_back(*std::move(merged));
    else
      outputs.push_back({one.name, {}, {}, {merged.error().message}});
  }
  return outputs;
}

}  // namespace lockstep::launcher
