#include "launcher/files/yaml/operators_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/file_system.h"

namespace lockstep::spec {

Result<std::optional<std::string>> read_operators_file(const std::string& path, Bytes at_most) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::optional<std::string>();
    return errno_error(errno, "cannot read " + path);
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 || (info.st_uid != 0 && info.st_uid != ::geteuid()))
    return make_error(
        ErrorCode::permission_denied,
        fmt::format("{} can be changed by others (owner {}, mode {:04o}), so it is not used: chown "
                    "it to the launcher's user and chmod go-w it",
                    path, info.st_uid, info.st_mode & 07777));
  TRY_ASSIGN(std::string text, io::read_regular_file(path, at_most));
  return std::optional<std::string>(std::move(text));
}

}  // namespace lockstep::spec
