#include "runner/gang/gang_tree.h"

#include <numeric>

#include "common/base/check.h"

namespace lockstep::runner {

std::vector<int> GangTree::children() const {
  const TreeChildren here = tree_children(node_rank_, nodes_, radix_);
  std::vector<int> children(static_cast<std::size_t>(here.count));
  std::iota(children.begin(), children.end(), here.first);
  return children;
}

bool GangTree::in_subtree(int node) const {
  while (node > node_rank_) node = parent_of(node);
  return node == node_rank_;
}

int GangTree::next_hop(int node) const {
  CHECK(node != node_rank_, "a message to ourselves has no next hop");
  if (!in_subtree(node)) return parent();
  while (parent_of(node) != node_rank_) node = parent_of(node);
  return node;
}

}  // namespace lockstep::runner
