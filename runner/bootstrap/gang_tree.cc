#include "runner/bootstrap/gang_tree.h"

#include "common/base/check.h"

namespace lockstep::runner {

std::vector<int> GangTree::children() const {
  std::vector<int> children;
  for (int child = node_rank_ * radix_ + 1; child <= node_rank_ * radix_ + radix_ && child < nodes_;
       ++child) {
    children.push_back(child);
  }
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
