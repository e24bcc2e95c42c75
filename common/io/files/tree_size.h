#pragma once
// Measures how much disk a tree uses while others may change it. It walks a tree of any depth
// through open folders, follows no symlink, enters no other mount, and gives up after a given time.
// It changes nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace lockstep::io {

struct TreeSize {
  Bytes bytes;  // allocated blocks; a file with several hard links counts once
  std::uint64_t entries = 0;
  bool is_whole = true;  // false: the time was over, or the tree changed during the walk
};

// Measures a tree. `left_out`: names directly in `path` that do not count. `most`: when to give up.
// Returns an error if `path` itself cannot be read.
Result<TreeSize> measure_tree(const std::string& path, const std::vector<std::string>& left_out,
                              Duration most);

}  // namespace lockstep::io
