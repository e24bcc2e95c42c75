#pragma once
// File work below a folder that others may write to, by those who have more rights than they: all
// of it goes through descriptors. A path is opened below an open folder, through no symlink and
// never out of it; what is given away or changed is what was opened. Paths of one's own (a folder
// whose parents nobody else can write to) begin it: Folder::open.

#include <fcntl.h>
#include <sys/types.h>

#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

// How a path is kept below its base: by the kernel, or name by name where it cannot (before Linux
// 5.6, or under a filter that refuses the call).
enum class Resolve { by_kernel, by_name };
Resolve resolve_here();  // asked once in a process

// `path` is relative and has no "..". On failure it is closed and errno says why: ELOOP or ENOTDIR
// when a symlink stands in it, EXDEV when it leads out of `base`.
Fd open_beneath(int base, const std::string& path, int flags, mode_t mode = 0,
                Resolve how = resolve_here());

// Removes what `folder` has by this name, with all that is in it: a tree of any depth, with few
// descriptors, through no symlink and into no other mount. What is not there is success.
// conflict: a file system is mounted in it, or it is filled or moved meanwhile.
Status remove_tree_at(int folder, const std::string& name, const std::string& shown);

struct FolderOwner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// One open folder. Names are single components.
class Folder {
 public:
  // Of one's own: parents are resolved as usual, and the folder itself is no symlink.
  static Result<Folder> open(const std::string& path);
  Folder(Fd fd, std::string shown) : fd_(std::move(fd)), shown_(std::move(shown)) {}

  Result<Folder> enter(const std::string& path) const;  // "a/b": through no symlink
  // Makes it, closed to others, or opens the one that is there: then `is_new` is false.
  Result<Folder> make(const std::string& name, bool& is_new) const;
  // Made for its owner, or there already and left as it is, but for one that we made and were cut
  // off before it was given away.
  Result<Folder> make_for(const std::string& name, const FolderOwner& owner, mode_t mode) const;
  // The owner first, then the mode: it is closed to all others until then.
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
