#include "common/snapshot/capture/file_stat.h"

#include <cerrno>

namespace lockstep::snapshot {

FileIdentity identity_of(const struct stat& info) {
  const auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000 + t.tv_nsec; };
  return {info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size), ns(info.st_mtim),
          ns(info.st_ctim)};
}

Result<StatResult> stat_of(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return errno_error(errno, "cannot stat " + path);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  // The unit of st_blocks is always 512, see stat(2).
  const auto on_disk = static_cast<std::uint64_t>(info.st_blocks) * 512;
  return StatResult{identity_of(info), info.st_mode, size > on_disk ? size - on_disk : 0};
}

}  // namespace lockstep::snapshot
