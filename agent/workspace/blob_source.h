#pragma once
// The source from which staging gets the blobs of a tree; sends the blobs that the other side
// lacks.

#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/content/blob_store.h"
#include "common/transfer/transfer.h"

namespace lockstep::agent {

// The source of a tree's blobs.
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  // Fetches every blob of the tree `root` that `cache` does not have, if `admit` lets it. Called on
  // the thread of stage(), by several threads at once.
  virtual Status fetch_tree(const Digest& root, snapshot::BlobStore& cache,
                            const transfer::OnProgress& progress,
                            const transfer::Admit& admit = {}) = 0;
  // Fetches only the blobs in `wanted`; each is `root` or below it.
  virtual Status fetch(const Digest& root, const std::vector<snapshot::BlobWanted>& wanted,
                       snapshot::BlobStore& cache, const transfer::OnProgress& progress) = 0;
  // Sends the blobs of a tree that the other side does not have.
  virtual Status push(const snapshot::Snapshot& tree, const transfer::OnProgress& progress) = 0;
};

}  // namespace lockstep::agent
