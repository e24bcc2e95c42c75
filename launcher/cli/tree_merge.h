#pragma once
// The trees that several nodes left of one output, as one tree: folders are joined; where two nodes
// have different things of one name, the lowest node rank keeps the name and the others stand
// beside it as NAME.node<rank>. Pure but for the store of directory objects that it is handed.

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/snapshot/manifest.h"

namespace lockstep::cli {

struct NodeTree {
  int node_rank = 0;
  Digest root;
};

struct Beside {  // what did not get the name it had
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

}  // namespace lockstep::cli
