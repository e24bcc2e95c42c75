#include "common/io/beneath.h"

#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "common/io/disk.h"
#include "common/io/folder_stack.h"

namespace lockstep::io {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// How often EAGAIN is retried: something was renamed while the path was resolved.
constexpr int kTriesOfKernel = 16;

Fd open_by_kernel(int base, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (int tries = 1;; ++tries) {
    Fd fd(disk::openat2(base, path.c_str(), how));
    if (fd || errno != EAGAIN || tries == kTriesOfKernel) return fd;
  }
}

Fd open_by_name(int base, const std::string& path, int flags, mode_t mode) {
  Fd at;
  for (std::size_t from = 0;;) {
    const auto slash = path.find('/', from);
    const std::string name = path.substr(from, slash - from);
    if (name == ".." || path.starts_with('/')) {
      errno = EXDEV;
      return {};
    }
    const int parent = at ? at.get() : base;
    const bool is_last = slash == std::string::npos || slash + 1 == path.size();
    if (is_last)
      return Fd(disk::openat(parent, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
    Fd next(disk::openat(parent, name.empty() ? "." : name.c_str(),
                         O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return next;
    at = std::move(next);
    from = slash + 1;
  }
}

}  // namespace

Resolve resolve_here() {
  static const Resolve resolve = [] {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const Fd asked(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how)));
    return asked || (errno != ENOSYS && errno != EPERM) ? Resolve::by_kernel : Resolve::by_name;
  }();
  return resolve;
}

Fd open_beneath(int base, const std::string& path, int flags, mode_t mode, Resolve how) {
  return how == Resolve::by_kernel ? open_by_kernel(base, path, flags, mode)
                                   : open_by_name(base, path, flags, mode);
}

Result<Folder> Folder::open(const std::string& path) {
  Fd fd(disk::open(path.c_str(), kFolder));
  if (!fd) return errno_error(errno, "cannot open " + path);
  return Folder(std::move(fd), path);
}

Result<Folder> Folder::enter(const std::string& path) const {
  Fd fd = open_beneath(fd_.get(), path, kFolder);
  if (!fd) return errno_error(errno, "cannot open " + shown_ + "/" + path);
  return Folder(std::move(fd), shown_ + "/" + path);
}

Result<Folder> Folder::make(const std::string& name, bool& is_new) const {
  is_new = disk::mkdirat(fd_.get(), name.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) return errno_error(errno, "cannot make " + shown_ + "/" + name);
  TRY_ASSIGN(Folder made, enter(name));
  struct stat info {};
  if (::fstat(made.fd(), &info) != 0) return errno_error(errno, "cannot stat " + made.shown());
  if (is_new && info.st_uid != ::geteuid())
    return make_error(ErrorCode::conflict,
                      made.shown() + " was replaced by another user while it was made");
  return made;
}

Result<Folder> Folder::make_for(const std::string& name, const FolderOwner& owner,
                                mode_t mode) const {
  bool is_new = false;
  TRY_ASSIGN(Folder made, make(name, is_new));
  struct stat info {};
  if (::fstat(made.fd(), &info) != 0) return errno_error(errno, "cannot stat " + made.shown());
  // Only we can enter such a folder, so nobody else can have moved it here.
  const bool was_cut_off = info.st_uid == ::geteuid() && (info.st_mode & 07777) == 0700;
  if (is_new || was_cut_off) TRY(made.give(owner, mode));
  return made;
}

Status Folder::give(const FolderOwner& owner, mode_t mode) const {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return errno_error(errno, "cannot stat " + shown_);
  // A user's folder may have the group of the folder above it.
  const bool is_theirs =
      info.st_uid == owner.uid &&
      (info.st_gid == owner.gid || (::geteuid() != 0 && owner.uid == ::geteuid()));
  if (!is_theirs && disk::fchown(fd_.get(), owner.uid, owner.gid) != 0)
    return errno_error(errno, "cannot change the owner of " + shown_);
  if ((info.st_mode & 07777) != mode && disk::fchmod(fd_.get(), mode) != 0)
    return errno_error(errno, "cannot set the mode of " + shown_);
  return {};
}

Status Folder::move(const std::string& name, const Folder& to, const std::string& as) const {
  if (disk::renameat(fd_.get(), name.c_str(), to.fd(), as.c_str()) == 0) return {};
  return errno_error(errno, "cannot move " + shown_ + "/" + name + " to " + to.shown() + "/" + as);
}

Status Folder::remove(const std::string& name) const {
  return remove_tree_at(fd_.get(), name, shown_ + "/" + name);
}

}  // namespace lockstep::io
