#pragma once
// What a job asks for that nodes of its target do not have, and how to ask for less. Pure.

#include <map>
#include <string>
#include <string_view>

#include "launcher/core/placement.h"

namespace lockstep::launcher {

class Shortage {
 public:
  // Call it for each node that has reported; a node that has enough adds no shortage.
  void add(const std::string& node, const Inventory& inventory, const Shape& shape);

  // "ask for less (--cpus; lockstep.resources.cpus in a job file)": names only amounts that some
  // node does not have. `or_more` is appended: ", or join nodes …". `restart` says how a node looks
  // for its gpus again.
  std::string remedy(const std::string& or_more, const std::string& restart) const;

 private:
  std::string less() const;

  std::map<std::string_view, std::string_view> exceeded_;  // flag of `run` -> key of a job file
  std::string without_gpu_;    // the first node without any gpu that has too few of them
  std::size_t most_gpus_ = 0;  // of one node
  bool lacks_gpu_for_each_rank_ = false, cannot_limit_ = false;
};

}  // namespace lockstep::launcher
