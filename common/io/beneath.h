#pragma once
// File operations below a folder that less privileged users can write to. They all use descriptors.
// A path is opened relative to an open folder, follows no symlink and cannot leave the folder;
// owner and mode are changed on the opened file. The first folder, opened by Folder::open, must be
// one whose parents nobody else can write to.

#include <fcntl.h>
#include <sys/types.h>

#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

// How a path is kept below its base: by the kernel (openat2), or component by component if the
// kernel cannot do it (before Linux 5.6, or under a filter that refuses the call).
enum class Resolve { by_kernel, by_name };
Resolve resolve_here();  // asked once in a process

// Opens a file below `base`. `path` is relative and has no "..". On failure the returned Fd is
// empty and errno says why: ELOOP or ENOTDIR when the path has a symlink, EXDEV when it leads out
// of `base`.
Fd open_beneath(int base, const std::string& path, int flags, mode_t mode = 0,
                Resolve how = resolve_here());

// Removes the entry `name` of `folder`, with everything in it. The tree may have any depth; few
// descriptors are used, and no symlink is followed and no other mount entered. A missing entry is
// success. Returns conflict if a file system is mounted in it, or if it is filled or moved
// meanwhile.
Status remove_tree_at(int folder, const std::string& name, const std::string& shown);

struct FolderOwner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// One open folder. Names are single components.
class Folder {
 public:
  // Resolves the parents as usual, so they must be trusted. The folder itself must not be a
  // symlink.
  static Result<Folder> open(const std::string& path);
  Folder(Fd fd, std::string shown) : fd_(std::move(fd)), shown_(std::move(shown)) {}

  Result<Folder> enter(const std::string& path) const;  // "a/b"; follows no symlink
  // Makes a folder with mode 0700, or opens an existing one; then `is_new` is false.
  Result<Folder> make(const std::string& name, bool& is_new) const;
  // Makes a folder and gives it to `owner`. An existing one is left as it is, except one that we
  // made and did not give away because we were interrupted.
  Result<Folder> make_for(const std::string& name, const FolderOwner& owner, mode_t mode) const;
  // Changes the owner first and the mode last, so that it is closed to all others until then.
  Status give(const FolderOwner& owner, mode_t mode) const;
  // Moves an entry within one file system. An existing `as` is replaced only if it is an empty
  // folder.
  Status move(const std::string& name, const Folder& to, const std::string& as) const;
  Status remove(const std::string& name) const;

  int fd() const { return fd_.get(); }
  const std::string& shown() const { return shown_; }

 private:
  Fd fd_;
  std::string shown_;
};

}  // namespace lockstep::io
