#pragma once
// Measures a tree in a blob store, for code that limits its size.

#include "common/base/bytes.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::snapshot {

// Total bytes of all files below `root` when written out; a blob that is named several times counts
// each time. Missing blobs count with the size in their directory. Returns corrupt if the tree is
// deeper than allowed.
Result<Bytes> tree_size(const BlobStore& store, const Digest& root, const Walk& walk = {});

// As tree_size(), with the directory objects: the size of the tree in a store that has none of its
// blobs.
Result<Bytes> stored_size(const BlobStore& store, const Digest& root, const Walk& walk = {});

// The space of the files below `root` on a disk when they are written out, in blocks of 4 KiB and
// without regard to holes. `are_linked`: larger blobs are in a cache, and their files only get
// another name.
Result<Bytes> written_size(const BlobStore& store, const Digest& root, bool are_linked);

}  // namespace lockstep::snapshot
