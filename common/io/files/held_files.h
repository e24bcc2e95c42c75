#pragma once
// Measures what processes hold of a disk in files that have no name: removed, or made without one
// (O_TMPFILE), but open. A walk of folders (tree_size.h) does not see them. It asks no file system
// that is not measured, and none for fresh attributes: one of a user's may never answer. A file
// that is mapped and not open, or on its way in a socket, is not found.

#include <set>
#include <string>

#include "common/base/bytes.h"
#include "common/base/time.h"

namespace lockstep::io {

struct HeldFiles {
  Bytes bytes;           // allocated blocks; a file that several processes have open counts once
  bool is_whole = true;  // false: the time was over, or a process could not be examined
};

// Counts the files of `pids` on the file system of `folder` and on overlays whose upper directory
// is in it. Needs the rights to trace these processes. `most`: when to give up.
HeldFiles measure_held(const std::string& folder, const std::set<int>& pids, Duration most);

}  // namespace lockstep::io
