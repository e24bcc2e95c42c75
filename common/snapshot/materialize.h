#pragma once
// Trees written out from a blob store: into one new directory, or into a cache of immutable trees
// by digest. Every blob is verified; nothing is ever written through a symlink or outside the
// target; hard links are never made; setuid and setgid bits are never set.

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/blob_store.h"

namespace lockstep::snapshot {

struct Owner {
  std::uint32_t uid = 0, gid = 0;
};
Owner current_owner();  // of this process: no chown is needed for it

struct MaterializeOptions {
  Owner owner = current_owner();
  int threads = 2;
  std::uint32_t umask = 0;  // permission bits that no file or folder gets
};

// Writes the tree into `directory`, which must not exist or be empty, and whose parent the new
// owner cannot write to. It is inaccessible to others until the whole tree is written; the owner is
// changed last. On an error the caller removes it.
Status materialize(const BlobStore& blobs, const Digest& root, const std::string& directory,
                   const MaterializeOptions& options = {});

// <folder>/<digest>[.<uid>], built beside and renamed, at most once at a time per tree and process.
// After a reboot all trees are built again: they are never fsynced.
class TreeCache {
 public:
  static Result<std::unique_ptr<TreeCache>> open(const std::string& folder);
  ~TreeCache();

  // The path, or "" when the tree is not here. Costs one stat, and counts as a use.
  std::string find(const Digest& root, const Owner& owner) const;
  // The tree's path; builds it when it is not here. Callers of one tree wait for one build.
  Result<std::string> get(const BlobStore& blobs, const Digest& root,
                          const MaterializeOptions& options = {});

  struct Tree {
    std::string path;
    Digest root;
    Instant last_used;
  };
  Result<std::vector<Tree>> list() const;
  // False: it was used within `in_use_for`, so it stays. The caller has checked that no part uses
  // it.
  Result<bool> remove_unless_used(const Tree& tree, Duration in_use_for);

 private:
  struct Impl;
  explicit TreeCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::snapshot
