#pragma once
// Merges the trees that several nodes left into one; folders are joined. In outputs, where two
// nodes have different entries of one name, the lowest node rank keeps the name, and the others
// are put beside it as NAME.node<rank>. For a checkpoint, the result is what a folder shared by
// all nodes would hold. Its only I/O is through the DirectoryObjects that it is given.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/outputs.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

struct Beside {  // an entry that was renamed
  int node_rank = 0;
  std::string path;  // from the root of the tree
  std::string kept_as;
  friend bool operator==(const Beside&, const Beside&) = default;
};

struct DirectoryObjects {
  std::function<Result<std::string>(const Digest&)> read;
  std::function<Status(const Digest&, const std::string& bytes)> write;
};

// The root of the merged tree. `trees` is not empty; each node stands in it once.
Result<Digest> merge_trees(std::vector<NodeTree> trees, const DirectoryObjects& objects,
                           std::vector<Beside>& beside);

// A three-way merge: all nodes began with `base` (absent: empty), and `trees` has their results. A
// change by one node wins over unchanged copies of others; of two different changes of one name,
// the lowest node rank's wins; an entry that one node removed is removed, unless another changed
// it. `trees` is not empty.
Result<Digest> merge_checkpoints(const std::optional<Digest>& base, std::vector<NodeTree> trees,
                                 const DirectoryObjects& objects);

}  // namespace lockstep::snapshot
