#pragma once
// The size of a tree in a blob store, to check it against a limit.

#include "common/base/bytes.h"
#include "common/snapshot/blob_store.h"

namespace lockstep::snapshot {

// Bytes of all files below `root` as they would be written out; what is named several times counts
// each time. Blobs that are not here count as their directories say. corrupt: deeper than a tree
// may be.
Result<Bytes> tree_size(const BlobStore& store, const Digest& root);

}  // namespace lockstep::snapshot
