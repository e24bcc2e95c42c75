#pragma once
// A tree cut into units of about a mebibyte: what nodes that fetch it from each other ask for, and
// say that they have. The same tree gives the same units on every node.

#include <cstdint>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/blob_store.h"

namespace lockstep::transfer {

inline constexpr std::uint64_t kUnitBytes = 1u << 20;
inline constexpr std::size_t kMaxBlobsInUnit = 2'000;

struct TreeUnit {
  std::vector<snapshot::BlobWanted> blobs;  // files; one alone when it is large
  std::uint64_t bytes = 0;
};

// Its files, each once, in the order in which its directories name them (depth first). All its
// directories must be in `store`: not_found else.
Result<std::vector<TreeUnit>> units_of(const snapshot::BlobStore& store, const Digest& root);

}  // namespace lockstep::transfer
