#include "agent/workspace/collect/open_below.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace lockstep::agent {

namespace {

Opened not_a_folder(int parent, const std::string& name) {
  struct stat info {};
  if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0)) return {Opened::What::hidden, {}, ""};
  if (S_ISLNK(info.st_mode))
    return {
        Opened::What::other, {}, "is a symlink; only a folder is kept, and links are not followed"};
  if (S_ISDIR(info.st_mode)) return {Opened::What::other, {}, "cannot be read: permission denied"};
  return {Opened::What::other, {}, "is not a folder; only a folder is kept"};
}

}  // namespace

Opened open_below(const io::Fd& base, const std::string& folder) {
  io::Fd at(::openat(base.get(), ".", kFolderFlags));
  for (std::size_t from = 0; from <= folder.size();) {
    const auto slash = std::min(folder.find('/', from), folder.size());
    const std::string name = folder.substr(from, slash - from);
    io::Fd next(::openat(at.get(), name.c_str(), kFolderFlags));
    if (!next) return not_a_folder(at.get(), name);
    at = std::move(next);
    from = slash + 1;
  }
  return {Opened::What::folder, std::move(at), ""};
}

bool is_empty(const io::Fd& folder) {
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!stream) return false;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  return true;
}

io::Fd open_base(const std::string& path) {
  return io::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace lockstep::agent
