#include "common/io/attempt/short_path.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/base/digest.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/files/places.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kDigits = 8;

std::string name_of(const AttemptDir& directory) {
  return "/" + sha256(directory.path()).hex().substr(0, kDigits);
}

bool is_symlink(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

}  // namespace

std::string short_path(const AttemptDir& directory) {
  const std::string folder = short_paths_folder();
  return folder.empty() ? "" : folder + name_of(directory);
}

std::string short_path_in_container(const AttemptDir& directory) {
  const std::string path = short_path(directory);
  return path.empty() ? "/run/lockstep/a" + name_of(directory) : path;
}

Status link_short_path(const AttemptDir& directory) {
  const std::string path = short_path(directory);
  if (path.empty())
    return make_error(ErrorCode::unsupported,
                      "this user has neither a home directory with a short path nor /run/user/UID");
  TRY(make_private_folders(path.substr(0, path.rfind('/'))));
  unlink_short_path(directory);
  if (disk::symlinkat(directory.path().c_str(), AT_FDCWD, path.c_str()) != 0)
    return errno_error(errno, "make the symlink " + path);
  return {};
}

void unlink_short_path(const AttemptDir& directory) {
  const std::string path = short_path(directory);
  if (!path.empty() && is_symlink(path)) disk::unlink(path.c_str());
}

}  // namespace lockstep::io
