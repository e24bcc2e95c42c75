#pragma once
// The checkpoint that an attempt begins with, put into its working directory before its ranks
// start: the trees of all nodes of an earlier attempt, joined, the same on every node.

#include <functional>
#include <string>

#include "agent/workspace/workspace.h"
#include "common/snapshot/blob_store.h"
#include "common/snapshot/materialize.h"

namespace lockstep::agent {

struct RestoreParts {
  const CheckpointSource& source;
  snapshot::BlobStore& cache;
  BlobSource& blobs;
  snapshot::Owner owner;
  std::string beside;  // where it is written first; on the file system of `into`
  std::string into;    // the working directory, or an overlay's upper one
  std::function<void(const std::string&)> tell;  // progress, in words
};

// What lies there now. Doing it again replaces it.
Result<CollectedOutput> restore_checkpoint(const RestoreParts& parts);

}  // namespace lockstep::agent
