#pragma once
// Puts files of a running or lost job that its nodes sent piece by piece into the trees of those
// nodes: whole ones under their names, partial ones beside them (snapshot::partial_name), the files
// of ./logs under their names as well.

#include <functional>
#include <map>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/live/pieces.h"
#include "launcher/cli/transfer/download_plan.h"

namespace lockstep::cli {

struct PieceList {
  snapshot::PiecedFile file;
  Digest list;  // the tree that has its pieces
};
// The list of pieces that an entry of a tree stands for, by its digest.
using PieceLists = std::map<Digest, PieceList>;

// Prepares trees for listing: their entries get digests that only `lists` knows. `blobs` must have
// the folder objects, and those of the lists.
Status show_pieces(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs, PieceLists& lists);

// Joins the pieces, all of which `blobs` must have, to blobs of the files, to write them out. Fills
// tree.to.partial.
Status join_pieces(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs);

}  // namespace lockstep::cli
