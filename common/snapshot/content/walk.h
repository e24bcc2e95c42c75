#pragma once
// Bounds for code that walks over a tree which somebody else made, and a place to pause. A walk
// reads directory objects; a small upload may name millions of entries, and each costs time and
// memory. WalkMeter counts them.

#include <cstdint>
#include <functional>
#include <limits>

#include "common/base/result.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

// Called at least once for each few thousand entries and for each piece of an object. It may block,
// and its error ends the walk. Empty: the walk never pauses.
using Pause = std::function<Status()>;

struct Walk {
  Pause pause = {};
  std::uint64_t most_entries = std::numeric_limits<std::uint64_t>::max();
  // Bytes of directory objects.
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
  int most_depth = std::numeric_limits<int>::max();
  // the walk ends at this number, with the blobs found so far
  std::size_t most_missing = std::numeric_limits<std::size_t>::max();
};

// A walk for a user or a node, who must not occupy the launcher. It has the limits of trees that
// can be written out.
inline Walk bounded_walk(Pause pause) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
  return {std::move(pause), kMaxTreeEntries, kMostBytes, kMaxTreeDepth};
}

}  // namespace lockstep::snapshot
