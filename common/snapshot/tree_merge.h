#pragma once
// Merges the trees of several nodes into one, folder by folder. For outputs, if nodes have
// different entries of the same name, the entry of the lowest node rank keeps the name, and the
// others become NAME.node<rank> in the same folder. For a checkpoint, the result is what a folder
// shared by all nodes would hold. Its only I/O is through the given DirectoryObjects.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/outputs.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

struct Beside {  // an entry that was renamed to NAME.node<rank>
  int node_rank = 0;
  std::string path;  // the path from the root of the tree
  std::string kept_as;
  friend bool operator==(const Beside&, const Beside&) = default;
};

struct DirectoryObjects {
  std::function<Result<std::string>(const Digest&)> read;
  std::function<Status(const Digest&, const std::string& bytes)> write;
};

// The root of the merged tree. `trees` is not empty and has each node once. `beside` gets the
// entries that were renamed.
Result<Digest> merge_trees(std::vector<NodeTree> trees, const DirectoryObjects& objects,
                           std::vector<Beside>& beside);

// Merges the trees of all nodes, which began with `base` (absent: with nothing). A node's change of
// an entry wins over the unchanged entry on the others. If several nodes changed an entry, the
// lowest node rank wins. An entry that one node removed is removed, unless another node changed it.
// `trees` is not empty.
Result<Digest> merge_checkpoints(const std::optional<Digest>& base, std::vector<NodeTree> trees,
                                 const DirectoryObjects& objects);

}  // namespace lockstep::snapshot
