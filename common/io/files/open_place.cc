#include "common/io/files/open_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/quoted_name.h"
#include "common/io/beneath.h"
#include "common/io/disk.h"
#include "common/io/files/act_as.h"

namespace lockstep::io {
namespace {

// How often EAGAIN is retried: something was renamed while the path was resolved.
constexpr int kTriesOfKernel = 16;

Fd open_inside(int base, const std::string& path, int flags) {
  if (resolve_here() == Resolve::by_name)
    return open_beneath(base, path, flags, 0, Resolve::by_name);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int tries = 1;; ++tries) {
    Fd fd(disk::openat2(base, path.c_str(), how));
    if (fd || errno != EAGAIN || tries == kTriesOfKernel) return fd;
  }
}

// The error for the user; `shown` is the path on the node.
Error explained(int error, const DatastorePath& place, const std::string& shown, const User& user) {
  const auto fail = [&](ErrorCode code, const std::string& why) {
    return make_error(code, fmt::format("datastore '{}': {}", place.datastore, why));
  };
  switch (error) {
    case ENOENT:
    case ENOTDIR: return fail(ErrorCode::not_found, shown + " does not exist on this node");
    case EACCES:
    case EPERM:
      return fail(ErrorCode::permission_denied,
                  fmt::format("{} may not read {} on this node", user.name, shown));
    case EXDEV:
    case ELOOP:
      return fail(ErrorCode::unsupported,
                  shown + " is or has a link that leads out of the datastore's directory");
    default: return fail(ErrorCode::io, errno_error(error, "cannot open " + shown).message);
  }
}

Result<Fd> open_directory(const DatastorePath& place, const User& user) {
  Fd fd(disk::open(place.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  const int error = errno;
  Error why = explained(error, place, quoted_name(place.directory), user);
  // The operator configured the path, so it may not be mounted here yet.
  if (error == ENOENT || error == ENOTDIR) why.code = ErrorCode::unavailable;
  return why;
}

Result<Fd> open_there(const DatastorePath& place, const User& user) {
  TRY_ASSIGN(Fd directory, open_directory(place, user));
  if (place.path.empty()) return directory;
  Fd fd = open_inside(directory.get(), place.path, O_PATH);
  if (!fd) return explained(errno, place, quoted_name(place.whole()), user);
  return fd;
}

}  // namespace

Fd reopen(int fd, int flags) {
  return Fd(disk::open(fmt::format("/proc/self/fd/{}", fd).c_str(), flags | O_CLOEXEC));
}

Result<OpenedPlace> open_place(const DatastorePath& place, const User& user, bool writable) {
  TRY(validate(place));
  TRY_ASSIGN(const ActAs acting, ActAs::begin(user));
  TRY_ASSIGN(Fd fd, open_there(place, user));
  const std::string shown = quoted_name(place.whole());
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return explained(errno, place, shown, user);
  const bool is_folder = S_ISDIR(info.st_mode);
  if (!is_folder && !S_ISREG(info.st_mode))
    return make_error(
        ErrorCode::unsupported,
        fmt::format("datastore '{}': {} is neither a file nor a folder", place.datastore, shown));
  if (const Fd readable = reopen(fd.get(), O_RDONLY | (is_folder ? O_DIRECTORY : 0)); !readable)
    return explained(errno, place, shown, user);
  if (is_folder || writable) {
    const int needs = (is_folder ? X_OK : 0) | (writable ? W_OK : 0);
    if (::faccessat(fd.get(), "", needs, AT_EACCESS | AT_EMPTY_PATH) != 0 &&
        (errno == EACCES || errno == EROFS))
      return make_error(
          ErrorCode::permission_denied,
          fmt::format("datastore '{}': {} may not {} {} on this node", place.datastore, user.name,
                      writable ? "change" : "read", shown));
  }
  return OpenedPlace{std::move(fd), is_folder};
}

// Makes a folder. Existing folders may be reached through links; a new one is made name by name.
Result<Fd> make_place(const DatastorePath& place, const User& user) {
  TRY(validate(place));
  TRY_ASSIGN(const ActAs acting, ActAs::begin(user));
  TRY_ASSIGN(Fd at, open_directory(place, user));
  for (std::size_t from = 0; from < place.path.size();) {
    const std::size_t slash = std::min(place.path.find('/', from), place.path.size());
    const std::string name = place.path.substr(from, slash - from);
    const std::string below = place.path.substr(0, slash);
    from = slash + 1;
    if (name.empty() || name == ".") continue;
    Fd next = open_inside(at.get(), name, O_PATH | O_DIRECTORY);
    if (!next && errno == ENOENT) {
      if (disk::mkdirat(at.get(), name.c_str(), 0777) != 0 && errno != EEXIST)
        return make_error(
            errno == EACCES || errno == EROFS ? ErrorCode::permission_denied : ErrorCode::io,
            errno_error(errno, fmt::format("datastore '{}': {} cannot make {}/{}", place.datastore,
                                           user.name, place.directory, below))
                .message);
      next = open_inside(at.get(), name, O_PATH | O_DIRECTORY);
    }
    const std::string shown = quoted_name(place.directory + "/" + below);
    if (!next && errno == ENOTDIR)
      return make_error(ErrorCode::conflict,
                        fmt::format("datastore '{}': {} is not a folder", place.datastore, shown));
    if (!next) return explained(errno, place, shown, user);
    at = std::move(next);
  }
  Fd opened = reopen(at.get(), O_RDONLY | O_DIRECTORY);
  if (!opened) return explained(errno, place, quoted_name(place.whole()), user);
  return opened;
}

}  // namespace lockstep::io
