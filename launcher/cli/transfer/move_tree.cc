#include "launcher/cli/transfer/move_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "common/base/quoted_name.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/downloaded.h"

namespace lockstep::cli {

namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Status in_the_way(int errnum, const std::string& path) {
  if (errnum == ELOOP || errnum == ENOTDIR || errnum == EEXIST || errnum == EISDIR ||
      errnum == ENOTEMPTY)
    return make_error(ErrorCode::conflict,
                      path +
                          " is in the way: a file or symlink where a folder belongs, or the other "
                          "way round; move it, or choose another --download-path");
  return errno_error(errnum, "cannot write " + path);
}

// Refuses a folder such as a mount: files cannot be renamed into it, so they would not all arrive
// at once.
Status check_folder(const io::Fd& folder, const io::Fd& above, const std::string& path) {
  struct stat inside {
  }, outside{};
  if (::fstat(folder.get(), &inside) != 0 || ::fstat(above.get(), &outside) != 0)
    return errno_error(errno, path);
  if (inside.st_dev != outside.st_dev)
    return make_error(ErrorCode::conflict,
                      path +
                          " is on another disk than the folder above it: nothing can be moved "
                          "there; choose another --download-path");
  if (::faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
  return make_error(ErrorCode::conflict, path +
                                             " is not writable for you; change its mode, or "
                                             "choose another --download-path");
}

// Whether everything in `from` can be moved to its place. Changes nothing.
Status check_way(const io::Fd& from, const std::string& from_path, const io::Fd& to,
                 const std::string& to_path) {
  const auto names = io::list_directory(fmt::format("/proc/self/fd/{}", from.get()));
  if (!names) return names.error().within(from_path);
  for (const std::string& name : *names) {
    const std::string target = to_path + "/" + quoted_name(name);
    struct stat here {
    }, there{};
    if (::fstatat(from.get(), name.c_str(), &here, AT_SYMLINK_NOFOLLOW) != 0)
      return errno_error(errno, from_path + "/" + quoted_name(name));
    if (::fstatat(to.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;
      return errno_error(errno, target);
    }
    if (S_ISDIR(here.st_mode) != S_ISDIR(there.st_mode)) return in_the_way(EEXIST, target);
    if (!S_ISDIR(here.st_mode)) continue;
    const io::Fd into(::openat(to.get(), name.c_str(), kFolderFlags));
    if (!into) return in_the_way(errno, target);
    TRY(check_folder(into, to, target));
    if (::fchmodat(from.get(), name.c_str(), (here.st_mode & 07777) | 0700, 0) != 0)
      return errno_error(errno, from_path);
    const io::Fd out_of(::openat(from.get(), name.c_str(), kFolderFlags));
    if (!out_of) return errno_error(errno, from_path + "/" + quoted_name(name));
    const Status free = check_way(out_of, from_path + "/" + name, into, target);
    if (::fchmod(out_of.get(), here.st_mode & 07777) != 0) return errno_error(errno, from_path);
    if (!free) return free;
  }
  return {};
}

Status move_into(const io::Fd& from, const std::string& from_path, const io::Fd& to,
                 const std::string& to_path) {
  // Uses the descriptor, because the path may be too long for the system.
  const auto names = io::list_directory(fmt::format("/proc/self/fd/{}", from.get()));
  if (!names) return names.error().within(from_path);
  for (const std::string& name : *names) {
    struct stat info {};
    if (::fstatat(from.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return errno_error(errno, from_path + "/" + name);
    const std::string target = to_path + "/" + quoted_name(name);
    if (!S_ISDIR(info.st_mode)) {
      if (io::disk::renameat(from.get(), name.c_str(), to.get(), name.c_str()) != 0)
        return in_the_way(errno, target);
      continue;
    }
    const bool is_new = io::disk::mkdirat(to.get(), name.c_str(), 0700) == 0;
    if (!is_new && errno != EEXIST) return in_the_way(errno, target);
    const io::Fd into(::openat(to.get(), name.c_str(), kFolderFlags));
    if (!into) return in_the_way(errno, target);
    // The owner must be able to empty and fill the folder, whatever mode the ranks gave it.
    if (::fchmodat(from.get(), name.c_str(), 0700, 0) != 0)
      return errno_error(errno, from_path + "/" + name);
    const io::Fd out_of(::openat(from.get(), name.c_str(), kFolderFlags));
    if (!out_of) return errno_error(errno, from_path + "/" + name);
    if (is_new) snapshot::pass_mark_on(out_of.get(), into.get());
    TRY(move_into(out_of, from_path + "/" + name, into, target));
    if (::fchmod(into.get(), (info.st_mode & 0777) | 0700) != 0) return errno_error(errno, target);
  }
  return {};
}

}  // namespace

Status move_tree(const std::string& from, const std::string& to) {
  TRY(io::make_directories(to));
  const io::Fd source(::open(from.c_str(), kFolderFlags));
  if (!source) return errno_error(errno, from);
  const io::Fd target(::open(to.c_str(), kFolderFlags));
  if (!target) return in_the_way(errno, to);
  TRY(check_way(source, from, target, to));
  const Status moved = move_into(source, from, target, to);
  if (moved) return moved;
  return make_error(ErrorCode::io, "not all files were moved, because " + to +
                                       " changed meanwhile: " + moved.error().message);
}

}  // namespace lockstep::cli
