#pragma once
// Writes the checkpoint that an attempt begins with into its working directory before its ranks
// start. The checkpoint is the merge of the trees of all nodes of an earlier attempt, and is the
// same on every node.

#include <functional>
#include <string>

#include "agent/workspace/blob_source.h"
#include "common/domain/runners/assignment.h"
#include "common/snapshot/checkout/materialize.h"
#include "common/snapshot/content/blob_store.h"

namespace lockstep::agent {

struct RestoreParts {
  const CheckpointSource& source;
  snapshot::BlobStore& cache;
  BlobSource& blobs;
  snapshot::Owner owner;
  std::string beside;  // written here first; on the same file system as `into`
  std::string into;    // the working directory, or an overlay's upper directory
  std::function<void(const std::string&)> tell;  // receives progress texts
  // Whether there is room to fetch and write out a tree, whose directories are in the cache.
  std::function<Status(const Digest& tree)> admit;
};

// Returns the restored checkpoint. A second call replaces the files of the first.
Result<CollectedOutput> restore_checkpoint(const RestoreParts& parts);

}  // namespace lockstep::agent
