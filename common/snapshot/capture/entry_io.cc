#include "common/snapshot/capture/entry_io.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <system_error>

#include "common/io/beneath.h"
#include "common/snapshot/capture/capture_options.h"

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

namespace {

const FollowedLink* find_link(const std::vector<FollowedLink>& followed, const std::string& path) {
  const auto at = std::lower_bound(
      followed.begin(), followed.end(), path,
      [](const FollowedLink& link, const std::string& wanted) { return link.path < wanted; });
  return at != followed.end() && at->path == path ? &*at : nullptr;
}

}  // namespace

io::Fd open_captured(int root, const std::vector<FollowedLink>& followed, const std::string& path,
                     int flags) {
  if (followed.empty()) return open_entry(root, path, flags);
  if (const FollowedLink* link = find_link(followed, path))
    return io::Fd(::open(link->target.c_str(), flags | O_NOFOLLOW));
  for (auto slash = path.rfind('/'); slash != path.npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    const FollowedLink* link = find_link(followed, path.substr(0, slash + 1));
    if (link == nullptr) continue;
    const io::Fd folder(
        ::open(link->target.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return folder ? open_entry(folder.get(), path.substr(slash + 1), flags) : io::Fd();
  }
  return open_entry(root, path, flags);
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
