#pragma once
// Measures the disk usage of a tree that others may change meanwhile: a walk of any depth that
// follows no symlink, enters no other mount, and stops at a time limit. Read-only.

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

// `left_out`: names directly in `path` that are not counted. An error: `path` itself cannot be
// read.
Result<TreeSize> measure_tree(const std::string& path, const std::vector<std::string>& left_out,
                              Duration most);

}  // namespace lockstep::io
