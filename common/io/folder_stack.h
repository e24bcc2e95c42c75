#pragma once
// The folders from the top of a tree down to where a walk is. A tree of any depth is walked with a
// bounded number of descriptors: the deepest folders stay open, and one above them is opened again
// through ".." and must still be the folder that the walk came through. No path is kept.

#include <dirent.h>
#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

struct FolderFacts {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t mount = 0;  // the device where the kernel does not tell the mount
  mode_t mode = 0;
  uid_t uid = 0;
};
// False: errno says why the facts cannot be read.
bool look_at_folder(int fd, FolderFacts& facts);

class FolderStack {
 public:
  // Where the listing of a folder continues after the folder was closed and opened again.
  enum class Reopened { from_start, behind_child };
  FolderStack(std::string shown, Reopened reopened)
      : shown_(std::move(shown)), reopened_(reopened) {}

  // Goes down into `folder`, which was just opened below the deepest one by this name.
  Status enter(Fd folder, const FolderFacts& facts, std::string name);
  // The next entry of the deepest folder; null: there is none.
  Result<const dirent*> next();
  void rewind();
  // Goes back to the folder above. Returns the name of the folder that was left, or "" when it is
  // no longer known.
  Result<std::string> leave();

  bool empty() const { return levels_.empty(); }
  std::size_t depth() const { return levels_.size(); }  // the top is 1
  int fd() const;                                       // of the deepest folder
  // For people: an entry of the deepest folder.
  std::string shown(const std::string& name = "") const;

 private:
  struct Closer {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    long position = 0;  // of its listing, when it is closed
  };
  struct Open {
    std::unique_ptr<DIR, Closer> stream;
    std::string name;
    long position = 0;  // behind the entry that next() gave
  };
  Status push_open(Fd folder, std::string name, bool deepest);

  const std::string shown_;
  const Reopened reopened_;
  std::vector<Level> levels_;
  std::deque<Open> open_;  // the deepest ones of levels_
};

}  // namespace lockstep::io
