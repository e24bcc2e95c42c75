#pragma once
// Opens folders of a working directory name by name without following symlinks, because ranks may
// have put a symlink anywhere.

#include <fcntl.h>

#include <string>

#include "common/io/file_system.h"

namespace lockstep::agent {

inline constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct Opened {
  enum class What { folder, absent, hidden, other } what = What::absent;
  io::Fd fd;
  std::string why;  // for `other`: the kind of the entry
};

// Opens a folder. `folder`: "a/b", below `base`. hidden: there is an overlay's whiteout.
Opened open_below(const io::Fd& base, const std::string& folder);
io::Fd open_base(const std::string& path);  // a closed Fd if it cannot be opened
bool is_empty(const io::Fd& folder);

}  // namespace lockstep::agent
