#pragma once
// What a job asks for that nodes of its target do not have. Pure.

#include <set>
#include <string>

#include "common/domain/why/jobs/vain.h"
#include "launcher/core/placement/shape.h"

namespace lockstep::launcher {

class Shortage {
 public:
  // Call it for each node that has reported; a node that has enough adds no shortage.
  void add(const std::string& node, const Inventory& inventory, const Shape& shape);

  ShortOf total() const;

 private:
  std::set<AskedAmount> exceeded_;
  std::string without_gpu_;    // the first node without any gpu that has too few of them
  std::size_t most_gpus_ = 0;  // of one node
  bool lacks_gpu_for_each_rank_ = false, cannot_limit_ = false;
};

}  // namespace lockstep::launcher
