#include "common/io/files/places.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include <cerrno>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::io {
namespace {

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

bool is_our_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

Error not_private(const std::string& path, std::string_view why) {
  return make_error(ErrorCode::permission_denied,
                    fmt::format("{} {}, but ranks' working directories are mounted below it: "
                                "remove it, and Lockstep makes it again",
                                path, why));
}

Result<Fd> step_into(const Fd& above, const std::string& name, const std::string& path) {
  const mode_t mode = ::geteuid() == 0 ? 0755 : 0700;
  const bool made = disk::mkdirat(above.get(), name.c_str(), mode) == 0;
  if (!made && errno != EEXIST) return errno_error(errno, "make directory " + path);
  Fd folder(::openat(above.get(), name.c_str(), kFolder | O_NOFOLLOW));
  if (!folder && (errno == ELOOP || errno == ENOTDIR))
    return not_private(path, "is not a directory");
  struct stat info {};
  if (!folder || ::fstat(folder.get(), &info) != 0) return errno_error(errno, "open " + path);
  if (info.st_uid != ::geteuid())
    return not_private(path, fmt::format("belongs to the user with id {}", info.st_uid));
  // Sets the bits that the umask removed.
  if (made && ::fchmod(folder.get(), mode) != 0) return errno_error(errno, "chmod " + path);
  if (!made && (info.st_mode & kOthersMayWrite) != 0)
    return not_private(
        path, fmt::format("is writable for other users (mode {:04o})", info.st_mode & 07777));
  return folder;
}

}  // namespace

std::string jobs_folder() {
  if (::geteuid() == 0) return "/run/lockstep/jobs";
  const auto user = current_user();
  if (user && user->home.starts_with('/') && is_our_folder(user->home))
    return user->home + "/.lockstep/jobs";
  const std::string runtime = fmt::format("/run/user/{}", ::geteuid());
  return is_our_folder(runtime) ? runtime + "/lockstep/jobs" : "";
}

std::string short_paths_folder() {
  // Leaves room for "/1234abcd/tmp" and 60 bytes more in a socket's path.
  constexpr std::size_t kMost = 107 - 60 - 13;
  if (::geteuid() == 0) return "/run/lockstep/a";
  const auto user = current_user();
  if (user && user->home.starts_with('/') && is_our_folder(user->home))
    if (std::string path = user->home + "/.lockstep/a"; path.size() <= kMost) return path;
  const std::string runtime = fmt::format("/run/user/{}", ::geteuid());
  const std::string path = runtime + "/lockstep/a";
  return is_our_folder(runtime) && path.size() <= kMost ? path : "";
}

Status make_private_folders(const std::string& path) {
  const auto last = path.rfind('/');
  const auto before = last == 0 || last == path.npos ? path.npos : path.rfind('/', last - 1);
  if (before == path.npos)
    return make_error(ErrorCode::invalid_argument, path + " has fewer than two folders");
  const std::string top = before == 0 ? "/" : path.substr(0, before);
  const Fd above(::open(top.c_str(), kFolder));
  if (!above) return errno_error(errno, "open " + top);
  TRY_ASSIGN(const Fd middle,
             step_into(above, path.substr(before + 1, last - before - 1), path.substr(0, last)));
  const auto made = step_into(middle, path.substr(last + 1), path);
  return made ? Status{} : Status(made.error());
}

Result<std::string> secure_home(const std::string& path, int mode) {
  const bool was_there = exists(path);
  TRY(make_directories(path, mode));
  const Fd home(::open(path.c_str(), kFolder));
  struct stat info {};
  if (!home || ::fstat(home.get(), &info) != 0) return errno_error(errno, "open " + path);
  if (info.st_uid != ::geteuid())
    return make_error(
        ErrorCode::permission_denied,
        fmt::format("the home {} belongs to the user with id {}, but this program runs as {}: run "
                    "it as that user, chown the whole folder, or choose another with --home",
                    path, info.st_uid, ::geteuid()));
  if (was_there && (info.st_mode & kOthersMayWrite) != 0)
    return make_error(ErrorCode::permission_denied,
                      fmt::format("other users can write to the home {0} (mode {1:04o}), so its "
                                  "files may be theirs: check the files, then `chmod {2:04o} {0}`",
                                  path, info.st_mode & 07777, mode));
  const mode_t wanted = static_cast<mode_t>(mode);
  if ((info.st_mode & 07777) == wanted) return "";
  if (::fchmod(home.get(), wanted) != 0) return errno_error(errno, "chmod " + path);
  if (!was_there) return "";
  return fmt::format("changed the mode of the home {} from {:04o} to {:04o}", path,
                     info.st_mode & 07777, mode);
}

void leave_home_out_of_snapshots(const std::string& path) {
  const std::string file = path + "/.gitignore";
  if (!exists(file)) (void)write_file_atomically(file, "# a home of Lockstep\n*\n", 0600);
}

namespace {

// Whether others may write to a folder. Many systems give each account a group of its own, with the
// account's number, and make folders group-writable.
bool others_may_write(const struct stat& info) {
  if ((info.st_mode & S_IWOTH) != 0) return true;
  const bool is_own_group = info.st_gid == ::getegid() && info.st_gid == ::geteuid();
  return (info.st_mode & S_IWGRP) != 0 && !is_own_group;
}

Status expect_unchangeable(const std::string& folder, bool may_be_shared) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0) return errno_error(errno, "look at " + folder);
  const auto no = [&](std::string_view why) {
    return make_error(ErrorCode::permission_denied,
                      fmt::format("{} {}, and so could change what lies there", folder, why));
  };
  if (info.st_uid != ::geteuid() && info.st_uid != 0) return no("belongs to another account");
  if (S_ISLNK(info.st_mode)) return {};  // the link's target is checked as well
  if (others_may_write(info) && !(may_be_shared && (info.st_mode & S_ISVTX) != 0))
    return no("is writable for other accounts");
  return {};
}

}  // namespace

Status expect_unchangeable_by_others(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
    return make_error(ErrorCode::permission_denied, path + " is a symlink");
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr) return errno_error(errno, "look at " + path);
  for (std::string at : {path, std::string(real)}) {
    for (bool may_be_shared = false; !at.empty(); may_be_shared = true) {
      TRY(expect_unchangeable(at, may_be_shared));
      at.resize(at == "/" ? 0 : std::max<std::size_t>(at.rfind('/'), 1));
    }
  }
  return {};
}

Status close_to_others(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ENOENT ? Status{} : Status(errno_error(errno, "open " + path));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_error(errno, "look at " + path);
  if ((info.st_mode & 077) == 0) return {};
  if (::fchmod(file.get(), info.st_mode & 0700) != 0) return errno_error(errno, "chmod " + path);
  return {};
}

}  // namespace lockstep::io
