#pragma once
// A question for files of the launcher's trees.

#include <string>
#include <vector>

#include "common/domain/data/outputs.h"

namespace lockstep::launcher {

// The trees of an output's nodes, which make one, and the requested part of it.
struct TreeQuestion {
  std::vector<NodeTree> trees;
  std::string path;  // "": all of it
};

}  // namespace lockstep::launcher
