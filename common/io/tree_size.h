#pragma once
// How much of its disk a tree takes that others change meanwhile: a walk of any depth through open
// folders, through no symlink and into no other mount, which gives up after a while. It changes
// nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::io {

struct TreeSize {
  Bytes bytes;  // blocks, not lengths; a file of several names counts once
  std::uint64_t entries = 0;
  bool is_whole = true;  // false: the time was over, or the tree was changed under the walk
};

// `left_out`: names in `path` itself that do not count. An error: not even `path` can be read.
Result<TreeSize> measure_tree(const std::string& path, const std::vector<std::string>& left_out,
                              Duration most);

}  // namespace lockstep::io
