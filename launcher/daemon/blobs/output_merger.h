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
  OutputSizes sizes;  // of those to register that have files
};

// One for each output that is asked for. An output that cannot be read has no tree, and the reason
// as its problem; so has one that exceeds the bounds of a walk. resource_exhausted, unavailable:
// the store has no space, or the launcher stops; nothing else is an error of all.
Result<MergedTrees> merge_outputs(snapshot::BlobStore& store, const MergeOutputs& question,
                                  const snapshot::Pause& pause);

// The store's directory objects, for common/snapshot's functions on trees. What is read in all is
// bounded like one walk (bounded_walk).
snapshot::DirectoryObjects directory_objects(snapshot::BlobStore& store, snapshot::Pause pause);

}  // namespace lockstep::launcher
