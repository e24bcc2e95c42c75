#pragma once
// Counts what a walk over a tree of a blob store has seen, and stops it at its bounds (walk.h).

#include <cstdint>
#include <string>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/content/walk.h"

namespace lockstep::snapshot {

// Counts what one walk has seen against its bounds. Exceeding a bound is an invalid_argument, so
// that it is not mistaken for a full disk and tried again.
class WalkMeter {
 public:
  explicit WalkMeter(const Walk& walk) : walk_(walk) {}

  // Counts one entry. invalid_argument: too many. Pauses at intervals.
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
