#pragma once
// A part of a tree as a tree of its own: a folder below its root, or a folder that has one file of
// it. Its only I/O is through the given DirectoryObjects.

#include <string>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/snapshot/tree_merge.h"

namespace lockstep::snapshot {

struct Subtree {
  Digest root;
  std::string file;  // the name of the one file in `root`; "": the part is a folder
};

// Finds the subtree at `path`: "a/b", "" = the whole tree. Returns not_found if nothing is there,
// and unsupported if a symlink is.
Result<Subtree> subtree(const Digest& root, const std::string& path,
                        const DirectoryObjects& objects);

}  // namespace lockstep::snapshot
