#pragma once
// Folders of a working directory, opened name by name and through no symlink: its ranks may have
// put one anywhere.

#include <fcntl.h>

#include <string>

#include "common/io/file_system.h"

namespace lockstep::agent {

inline constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

struct Opened {
  enum class What { folder, absent, hidden, other } what = What::absent;
  io::Fd fd;
  std::string why;  // other: what it is instead
};

// `folder`: "a/b", below `base`. hidden: an overlay's whiteout stands there.
Opened open_below(const io::Fd& base, const std::string& folder);
io::Fd open_base(const std::string& path);  // closed when it cannot be
bool is_empty(const io::Fd& folder);

}  // namespace lockstep::agent
