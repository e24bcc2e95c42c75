#pragma once
// Finds the resources that a job asks for and the nodes of its target do not have. Pure.

#include <set>
#include <string>

#include "common/domain/why/jobs/vain.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

class Shortage {
 public:
  // Counts a node that has reported; one that has enough adds no shortage.
  void add(const std::string& node, const Inventory& inventory, const Shape& shape);

  ShortOf total() const;

 private:
  std::set<AskedAmount> exceeded_;
  std::string without_gpu_;    // the first node with too few gpus that has none at all
  std::size_t most_gpus_ = 0;  // the most that one node has
  bool lacks_gpu_for_each_rank_ = false, cannot_limit_ = false;
};

}  // namespace lockstep::launcher
