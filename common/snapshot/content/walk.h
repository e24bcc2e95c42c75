#pragma once
// Bounds for code that walks over a tree which somebody else made, and a place to pause. A walk
// reads directory objects; a small upload may name millions of entries, and each costs time and
// memory.

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "common/base/bytes.h"
#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/manifest.h"

namespace lockstep::snapshot {

class BlobStore;

// Called at least once for each few thousand entries and for each piece of an object. It may block,
// and its error ends the walk. Empty: the walk never pauses.
using Pause = std::function<Status()>;

struct Walk {
  Pause pause = {};
  std::uint64_t most_entries = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();  // of directory objects
  int most_depth = std::numeric_limits<int>::max();
  std::size_t most_missing = std::numeric_limits<std::size_t>::max();  // then it ends, with these
};

// A walk for a user or a node, who must not occupy the launcher. The limits are those of trees that
// can be written out.
inline Walk bounded_walk(Pause pause) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;
  return {std::move(pause), kMaxTreeEntries, kMostBytes, kMaxTreeDepth};
}

// Counts what one walk has seen against its bounds. A tree that exceeds one is an invalid_argument,
// so that nobody takes it for a full disk and tries again.
class WalkMeter {
 public:
  explicit WalkMeter(const Walk& walk) : walk_(walk) {}

  // invalid_argument: too many. Pauses now and then.
  Status entry();
  // Reads a directory object of this depth (0: the root). Pauses between its pieces.
  // invalid_argument: too deep, or too many bytes.
  Result<std::string> read(const BlobStore& store, const Digest& digest, int depth);
  Status pause() const { return walk_.pause ? walk_.pause() : Status(); }

 private:
  const Walk& walk_;
  std::uint64_t entries_ = 0, bytes_ = 0;
};

}  // namespace lockstep::snapshot
