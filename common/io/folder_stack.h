#pragma once
// The folders from the top of a tree down to the present position of a walk. It walks a tree of any
// depth with a limited number of descriptors: only the deepest folders stay open. A folder above
// them is opened again through "..", and must still be the folder that the walk came through. No
// path is kept.

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
  std::uint64_t mount = 0;  // mount id; the device if the kernel does not report mount ids
  mode_t mode = 0;
  uid_t uid = 0;
};
// Reads a folder's facts. False: failed, and errno says why.
bool look_at_folder(int fd, FolderFacts& facts);

class FolderStack {
 public:
  // The place at which the listing of a folder continues after the folder was closed and reopened.
  enum class Reopened { from_start, behind_child };
  FolderStack(std::string shown, Reopened reopened)
      : shown_(std::move(shown)), reopened_(reopened) {}

  // Goes down into `folder`, the entry `name` of the deepest folder, which the caller just opened.
  Status enter(Fd folder, const FolderFacts& facts, std::string name);
  // The next entry of the deepest folder; null: there are no more.
  Result<const dirent*> next();
  void rewind();
  // Goes back to the folder above. Returns the name of the folder it left, or "" when that is no
  // longer known.
  Result<std::string> leave();

  bool empty() const { return levels_.empty(); }
  std::size_t depth() const { return levels_.size(); }  // the depth; 1 at the top
  int fd() const;                                       // the descriptor of the deepest folder
  // The path of `name` in the deepest folder, for messages; "": of the folder itself.
  std::string shown(const std::string& name = "") const;

 private:
  struct Closer {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  struct Level {
    dev_t device = 0;
    ino_t inode = 0;
    long position = 0;  // the position in its listing, while the folder is closed
  };
  struct Open {
    std::unique_ptr<DIR, Closer> stream;
    std::string name;
    long position = 0;  // the position after the entry that next() returned
  };
  Status push_open(Fd folder, std::string name, bool deepest);

  const std::string shown_;
  const Reopened reopened_;
  std::vector<Level> levels_;
  std::deque<Open> open_;  // the deepest ones of levels_
};

}  // namespace lockstep::io
