#pragma once
// Writes trees from a blob store to disk: into one new directory, or into a cache of immutable
// trees by digest. Every blob is verified. Blocks of zeros become holes. Nothing is written through
// a symlink or outside the target, no setuid or setgid bits are set, and only trees for all users
// have hard links (to the cache).

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/snapshot/content/blob_store.h"
#include "common/snapshot/stat_cache.h"

namespace lockstep::snapshot {

struct Owner {
  std::uint32_t uid = 0, gid = 0;
};
Owner current_owner();  // the user of this process, for whom no chown is needed

struct MaterializeOptions {
  Owner owner = current_owner();
  int threads = 2;
  std::uint32_t umask = 0;  // permission bits that are cleared on all files and folders
  bool for_all = false;     // every user may read it, and only the owner may change it
};

// Writes the tree into `directory`, which must be missing or empty, in a folder that the future
// owner cannot write to. The directory is closed to all other users until the whole tree is
// written; its owner is changed last. After an error the caller removes it.
Status materialize(const BlobStore& blobs, const Digest& root, const std::string& directory,
                   const MaterializeOptions& options = {});

// A cache of trees in <folder>/<digest>[.<uid>|.all]. A tree is built under another name and
// renamed; a process builds each tree at most once at a time. Trees are never fsynced, so after a
// reboot all are built again.
class TreeCache {
 public:
  static Result<std::unique_ptr<TreeCache>> open(const std::string& folder);
  ~TreeCache();

  // The tree's path, or "" when it is not in the cache. Costs one stat.
  // The tree counts as used now.
  std::string find(const Digest& root, const MaterializeOptions& options) const;
  // The tree's path. Builds the tree when it is not in the cache; concurrent callers for the same
  // tree wait for one build.
  Result<std::string> get(const BlobStore& blobs, const Digest& root,
                          const MaterializeOptions& options = {});

  // Takes all trees with this file out of the cache: the next get() builds them again. Their
  // folders stay, because parts may use them. Returns their paths.
  std::vector<std::string> set_aside(const FileIdentity& file);

  struct Tree {
    std::string path;
    std::string found_as;  // the path that get() returned; not `path` if the tree was set aside
    Digest root;
    Instant last_used;
  };
  Result<std::vector<Tree>> list() const;
  // Removes a tree. False: the tree was asked for within `in_use_for`, so it stays. The caller must
  // know that no part uses the tree.
  Result<bool> remove_unless_used(const Tree& tree, Duration in_use_for);

 private:
  struct Impl;
  explicit TreeCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep::snapshot
