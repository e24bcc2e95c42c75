#pragma once
// Merges the trees that the nodes of a job sent for its named outputs, in the blob store.

#include <vector>

#include "common/base/result.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/content/walk.h"
#include "common/snapshot/tree_merge.h"
#include "launcher/core/base/action.h"
#include "launcher/core/base/input.h"

namespace lockstep::launcher {

struct MergedTrees {
  std::vector<MergedOutput> outputs;
  OutputSizes sizes;  // the sizes of outputs that are registered and have files
};

// Returns one tree for each output of the question. If an output cannot be read, or exceeds the
// bounds of a walk, it has no tree, and its problem is the reason. resource_exhausted or
// unavailable: the store has no space, or the launcher stops; other failures concern single
// outputs.
Result<MergedTrees> merge_outputs(snapshot::BlobStore& store, const MergeOutputs& question,
                                  const snapshot::Pause& pause);

// The store's directory objects, for common/snapshot's functions on trees. What is read in all is
// bounded like one walk (bounded_walk).
snapshot::DirectoryObjects directory_objects(snapshot::BlobStore& store, snapshot::Pause pause);

}  // namespace lockstep::launcher
