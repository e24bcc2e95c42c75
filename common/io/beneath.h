#pragma once
// File operations, by a privileged process, below a folder that less privileged users can write to.
// They use descriptors throughout: a path is opened below an open folder, follows no symlink and
// never leaves it, and owner and mode are changed on the opened descriptor. Folder::open begins at
// a path whose parents nobody else can write to.

#include <fcntl.h>
#include <sys/types.h>

#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

// How a path is confined to its base: by the kernel (openat2), or component by component where that
// call is missing (before Linux 5.6) or filtered.
enum class Resolve { by_kernel, by_name };
Resolve resolve_here();  // asked once in a process

// `path` is relative and has no "..". On failure it is closed and errno says why: ELOOP or ENOTDIR
// when a symlink stands in it, EXDEV when it leads out of `base`.
Fd open_beneath(int base, const std::string& path, int flags, mode_t mode = 0,
                Resolve how = resolve_here());

// Removes this entry of `folder` and everything below it: of any depth, with few descriptors,
// following no symlink and entering no other mount. Success when it does not exist. conflict: a
// file system is mounted in it, or somebody fills or moves it meanwhile.
Status remove_tree_at(int folder, const std::string& name, const std::string& shown);

struct FolderOwner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// One open folder. Names are single components.
class Folder {
 public:
  // For trusted paths: parents are resolved as usual, and the folder itself may not be a symlink.
  static Result<Folder> open(const std::string& path);
  Folder(Fd fd, std::string shown) : fd_(std::move(fd)), shown_(std::move(shown)) {}

  Result<Folder> enter(const std::string& path) const;  // "a/b": through no symlink
  // Makes it, closed to others, or opens the one that is there: then `is_new` is false.
  Result<Folder> make(const std::string& name, bool& is_new) const;
  // Makes the folder for its owner. One that exists is left as it is, unless an interrupted earlier
  // call made it and had not yet changed its owner.
  Result<Folder> make_for(const std::string& name, const FolderOwner& owner, mode_t mode) const;
  // Sets the owner, then the mode; until then nobody else has access.
  Status give(const FolderOwner& owner, mode_t mode) const;
  // Within one file system. What is at `as` is replaced only if it is an empty folder.
  Status move(const std::string& name, const Folder& to, const std::string& as) const;
  Status remove(const std::string& name) const;

  int fd() const { return fd_.get(); }
  const std::string& shown() const { return shown_; }

 private:
  Fd fd_;
  std::string shown_;
};

}  // namespace lockstep::io
