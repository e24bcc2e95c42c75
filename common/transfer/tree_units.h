#pragma once
// Divides a tree into units of about a mebibyte. Nodes that fetch the tree from each other request
// and announce units. The same tree has the same units on every node.

#include <cstdint>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::transfer {

inline constexpr std::uint64_t kUnitBytes = 1u << 20;
inline constexpr std::size_t kMaxBlobsInUnit = 2'000;

struct TreeUnit {
  std::vector<snapshot::BlobWanted> blobs;  // files; a large file has a unit of its own
  std::uint64_t bytes = 0;
};

// The units hold each file of the tree once, in the order of the directories (depth first). All
// directories must be in `store`; otherwise not_found.
Result<std::vector<TreeUnit>> units_of(const snapshot::BlobStore& store, const Digest& root);

}  // namespace lockstep::transfer
