#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "common/io/file_system.h"
#include "common/snapshot/materialize.h"

namespace lockstep::snapshot {
namespace {

Result<std::vector<std::string>> names_in(int fd, const std::string& path) {
  const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!stream) return errno_error(errno, "cannot list " + path);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

Status refuse_mount(int parent, const std::string& name, const std::string& path) {
  struct statx info {};
  if (::statx(parent, name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &info) != 0) {
    return errno == ENOENT ? Status() : errno_error(errno, "cannot stat " + path);
  }
  if ((info.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0) return {};
  return make_error(ErrorCode::conflict, path + " is a mount point: unmount it first");
}

Status remove_entry(int parent, const std::string& name, const std::string& path);

Status remove_folder(int parent, const std::string& name, const std::string& path) {
  TRY(refuse_mount(parent, name, path));
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  io::Fd folder(::openat(parent, name.c_str(), kFlags));
  if (!folder && errno == ENOENT) return {};
  if (!folder && errno == EACCES && ::geteuid() != 0) {
    // A mode that shuts its owner out. Root never comes here: a chmod by name follows a symlink that
    // someone may have put there meanwhile.
    if (::fchmodat(parent, name.c_str(), 0700, 0) == 0) {
      folder.reset(::openat(parent, name.c_str(), kFlags));
    }
  }
  if (!folder) return errno_error(errno, "cannot open " + path);
  struct stat info {};
  if (::fstat(folder.get(), &info) == 0 && (info.st_mode & 0700) != 0700) {
    static_cast<void>(::fchmod(folder.get(), 0700));
  }
  TRY_ASSIGN(const std::vector<std::string> names, names_in(folder.get(), path));
  for (const std::string& child : names) {
    TRY(remove_entry(folder.get(), child, path + "/" + child));
  }
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return errno_error(errno, "cannot remove " + path);
  }
  return {};
}

Status remove_entry(int parent, const std::string& name, const std::string& path) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno == EISDIR || errno == EPERM) return remove_folder(parent, name, path);
  return errno_error(errno, "cannot remove " + path);
}

}  // namespace

Status remove_tree_forcibly(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == path.npos ? "." : path.substr(0, slash + 1);
  const io::Fd fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return {};
  if (!fd) return errno_error(errno, "cannot open " + parent);
  return remove_entry(fd.get(), path.substr(slash + 1), path);
}

}  // namespace lockstep::snapshot
