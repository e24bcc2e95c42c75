#include "common/snapshot/disk_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "common/io/file_system.h"

namespace lockstep::snapshot {
namespace {

using Stream = std::unique_ptr<DIR, int (*)(DIR*)>;

class Usage {
 public:
  Status add(int parent, const char* name, dev_t device);
  std::uint64_t bytes = 0;

 private:
  std::set<std::pair<dev_t, ino_t>> linked_;  // files with several names
};

Status Usage::add(int parent, const char* name, dev_t device) {
  struct stat info {};
  if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status() : Status(errno_error(errno, "cannot stat a cached file"));
  }
  if (device != 0 && info.st_dev != device) return {};
  const bool counted = info.st_nlink > 1 && !S_ISDIR(info.st_mode) &&
                       !linked_.insert({info.st_dev, info.st_ino}).second;
  if (!counted) bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  if (!S_ISDIR(info.st_mode)) return {};
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const Stream stream(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!stream)
    return errno == ENOENT ? Status() : Status(errno_error(errno, "cannot list a cached folder"));
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view child = entry->d_name;
    if (child != "." && child != "..") TRY(add(fd, entry->d_name, info.st_dev));
  }
  return {};
}

}  // namespace

Result<std::uint64_t> disk_usage(const std::string& path) {
  Usage usage;
  if (const Status added = usage.add(AT_FDCWD, path.c_str(), 0); !added) {
    return added.error().within(path);
  }
  return usage.bytes;
}

}  // namespace lockstep::snapshot
