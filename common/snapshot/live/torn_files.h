#pragma once
// Files that a program was rewriting when it was killed. They must not count as complete: in the
// tree of an ended attempt, their last complete versions have their places, and the unfinished ones
// are beside them, marked as partial.

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/live/growing_file.h"

namespace lockstep::snapshot {

struct TornFile {
  std::string path;  // relative to the tree
  Version whole;     // the last complete version, which the receiver has; null: none
};

// Whether a file whose status changed last at `ctime_ns` (wall clock) may have been in the middle
// of a write when a program was killed, at one of `killed`.
bool was_cut_off(std::int64_t ctime_ns, const std::vector<Instant>& killed);

// Whether the open file begins with the content of the tree's file at `path`; false also if the
// tree has no such file.
bool begins_with(int fd, const LowerTree& tree, const std::string& path);

// Takes the files, each of which has a complete version, out of the captured tree; a complete
// version that is one blob gets its file's place there. Returns the list of pieces (pieces.h) with
// both versions of each file; its objects are added to the tree's.
Result<Digest> set_aside(const std::vector<TornFile>& torn, Snapshot& tree);

}  // namespace lockstep::snapshot
