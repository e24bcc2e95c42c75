#include "common/snapshot/content/disk_usage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "common/io/folder_stack.h"

namespace lockstep::snapshot {
namespace {

class Usage {
 public:
  explicit Usage(const std::string& path) : stack_(path, io::FolderStack::Reopened::behind_child) {}
  Status add(int parent, const char* name);
  Status walk();
  std::uint64_t bytes = 0;

 private:
  Status enter(int parent, const char* name);

  io::FolderStack stack_;
  dev_t device_ = 0;
  std::set<std::pair<dev_t, ino_t>> linked_;  // files with several names that were counted
};

Status Usage::add(int parent, const char* name) {
  struct stat info {};
  if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status() : Status(errno_error(errno, "cannot stat a cached file"));
  }
  if (stack_.empty()) device_ = info.st_dev;
  if (info.st_dev != device_) return {};
  const bool counted = info.st_nlink > 1 && !S_ISDIR(info.st_mode) &&
                       !linked_.insert({info.st_dev, info.st_ino}).second;
  if (!counted) bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  return S_ISDIR(info.st_mode) ? enter(parent, name) : Status();
}

Status Usage::enter(int parent, const char* name) {
  io::Fd folder(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  io::FolderFacts facts;
  if (!folder || !io::look_at_folder(folder.get(), facts))
    return errno == ENOENT ? Status() : Status(errno_error(errno, "cannot list a cached folder"));
  return stack_.enter(std::move(folder), facts, name);
}

Status Usage::walk() {
  while (!stack_.empty()) {
    TRY_ASSIGN(const dirent* entry, stack_.next());
    if (entry != nullptr) {
      TRY(add(stack_.fd(), entry->d_name));
    } else if (!stack_.leave()) {
      return {};  // the folder was moved or removed, so the rest is skipped
    }
  }
  return {};
}

}  // namespace

Result<std::uint64_t> disk_usage(const std::string& path) {
  Usage usage(path);
  Status added = usage.add(AT_FDCWD, path.c_str());
  if (added) added = usage.walk();
  if (!added) return added.error().within(path);
  return usage.bytes;
}

}  // namespace lockstep::snapshot
