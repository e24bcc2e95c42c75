#pragma once
// A node's place in the tree of its gang (common/domain/runners/gang.h): a k-ary tree over node
// ranks 0..nodes-1 with the root at 0. Arithmetic only.

#include <vector>

#include "common/domain/runners/runner_protocol.h"

namespace lockstep::runner {

class GangTree {
 public:
  GangTree(int node_rank, int nodes, int radix = kGangTreeRadix)
      : node_rank_(node_rank), nodes_(nodes), radix_(radix) {}

  int node_rank() const { return node_rank_; }
  int nodes() const { return nodes_; }
  int radix() const { return radix_; }
  int parent() const { return parent_of(node_rank_); }  // -1 at the root
  std::vector<int> children() const;
  // Whether `node` is this node or below it.
  bool in_subtree(int node) const;
  // The neighbour on the way to `node`, which must be another node.
  int next_hop(int node) const;

 private:
  int parent_of(int node) const { return tree_parent(node, radix_); }

  int node_rank_;
  int nodes_;
  int radix_;
};

}  // namespace lockstep::runner
