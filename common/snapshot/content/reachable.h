#pragma once
// The set of blobs that a tree consists of. A reader of the tree may be given these blobs. For each
// blob, the first 16 bytes of its digest are kept: another blob with the same 16 bytes is as hard
// to find as a collision of a 128-bit digest. A tree never changes, so a complete set stays valid.

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::snapshot {

// A digest's first 16 bytes.
using DigestKey = std::array<std::uint8_t, 16>;
DigestKey key_of(const Digest& digest);

inline constexpr std::size_t kMaxReachable = 8'000'000;  // the most blobs of one tree

class Reachable {
 public:
  Reachable(std::vector<DigestKey> sorted, bool is_whole)
      : keys_(std::move(sorted)), is_whole_(is_whole) {}
  bool has(const Digest& digest) const;
  bool is_whole() const { return is_whole_; }  // no directory of the tree was missing
  const std::vector<DigestKey>& keys() const { return keys_; }
  std::size_t bytes() const { return keys_.size() * sizeof(DigestKey); }

 private:
  std::vector<DigestKey> keys_;
  bool is_whole_;
};

// The root and all blobs below it. If the root is not a directory, the set has only that blob.
// invalid_argument: more than kMaxReachable blobs, or than `walk` allows.
Result<Reachable> reachable_from(const BlobStore& store, const Digest& root, const Walk& walk = {});

// Caches the sets that were used last, up to `most_bytes`, and always the very last one. Usable
// from any thread; a walk blocks only the thread that calls find().
class ReachableTrees {
 public:
  ReachableTrees(const BlobStore& store, std::size_t most_bytes)
      : store_(store), most_bytes_(most_bytes) {}
  using Set = std::shared_ptr<const Reachable>;
  Set known(const Digest& root);  // null: not cached; find() would walk the tree
  Result<Set> find(const Digest& root, const Walk& walk = {});
  std::size_t bytes() const;

 private:
  const BlobStore& store_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  // guards the members below
  struct Known {
    Set set;
    std::list<Digest>::iterator place;
  };
  std::map<Digest, Known> known_;
  std::list<Digest> by_use_;  // trees, the most recently used first
  std::size_t bytes_ = 0;
};

}  // namespace lockstep::snapshot
