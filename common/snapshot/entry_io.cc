#include "common/snapshot/entry_io.h"

#include <fcntl.h>

#include <cerrno>
#include <climits>
#include <system_error>

#include "common/io/beneath.h"
#include "common/snapshot/capture.h"

namespace lockstep::snapshot {

io::Fd open_entry(int root, const std::string& path, int flags) {
  io::Fd folder;
  std::size_t from = 0;
  while (path.size() - from >= PATH_MAX) {
    const auto slash = path.rfind('/', from + PATH_MAX - 1);
    if (slash == std::string::npos || slash <= from) {
      errno = ENAMETOOLONG;
      return {};
    }
    const std::string part = path.substr(from, slash - from);
    io::Fd next =
        io::open_beneath(folder ? folder.get() : root, part, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!next) return next;
    folder = std::move(next);
    from = slash + 1;
  }
  return io::open_beneath(folder ? folder.get() : root, path.substr(from), flags);
}

bool is_of_one_entry(int errnum) {
  switch (errnum) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EBADF: return false;
    default: return true;
  }
}

std::string why_left_out(int errnum) {
  switch (errnum) {
    case EACCES:
    case EPERM: return "permission denied";
    case ENOENT:
    case ESTALE: return "it vanished before it was read";
    case ELOOP:
    case ENOTDIR: return "changed while it was read";
    case EFBIG:
      return "with it, the files of the tree would have more than " + to_string(kMostHoles) +
             " of holes in total; rewrite it without holes (cp --sparse=never)";
    default: return "cannot be read: " + std::generic_category().message(errnum);
  }
}

}  // namespace lockstep::snapshot
