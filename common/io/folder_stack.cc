#include "common/io/folder_stack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/io/disk.h"

namespace lockstep::io {
namespace {

// The most open folders; each needs a descriptor and a buffer of 32 KiB.
constexpr std::size_t kMostOpen = 32;

}  // namespace

bool look_at_folder(int fd, FolderFacts& facts) {
  struct statx info {};
  const int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT;
  if (::statx(fd, "", flags, STATX_BASIC_STATS | STATX_MNT_ID, &info) != 0) return false;
  facts.device = ::makedev(info.stx_dev_major, info.stx_dev_minor);
  facts.inode = info.stx_ino;
  facts.mount = (info.stx_mask & STATX_MNT_ID) != 0 ? info.stx_mnt_id : facts.device;
  facts.mode = info.stx_mode;
  facts.uid = info.stx_uid;
  return true;
}

int FolderStack::fd() const { return ::dirfd(open_.back().stream.get()); }

std::string FolderStack::shown(const std::string& name) const {
  std::string text = shown_;
  if (levels_.size() > open_.size()) {
    text += "/… (" + std::to_string(levels_.size() - 1) + " folders down)";
    if (!open_.empty() && !open_.back().name.empty()) text += "/" + open_.back().name;
  } else {
    for (std::size_t i = 1; i < open_.size(); ++i) text += "/" + open_[i].name;
  }
  return name.empty() ? text : text + "/" + name;
}

Status FolderStack::enter(Fd folder, const FolderFacts& facts, std::string name) {
  if (!open_.empty()) levels_.back().position = open_.back().position;
  if (open_.size() == kMostOpen) open_.pop_front();
  TRY(push_open(std::move(folder), std::move(name), true));
  levels_.push_back({facts.device, facts.inode, 0});
  return {};
}

Status FolderStack::push_open(Fd folder, std::string name, bool deepest) {
  Open opened;
  opened.stream.reset(::fdopendir(folder.get()));
  if (!opened.stream) return errno_error(errno, "list " + shown(name));
  static_cast<void>(folder.release());
  opened.name = std::move(name);
  if (deepest) {
    open_.push_back(std::move(opened));
  } else {
    open_.push_front(std::move(opened));
  }
  return {};
}

Result<const dirent*> FolderStack::next() {
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open_.back().stream.get());
    if (entry == nullptr && errno != 0) return errno_error(errno, "list " + shown());
    if (entry == nullptr) return entry;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    open_.back().position = entry->d_off;
    return entry;
  }
}

void FolderStack::rewind() { ::rewinddir(open_.back().stream.get()); }

Result<std::string> FolderStack::leave() {
  if (levels_.size() > 1 && open_.size() == 1) {
    const Level& above = levels_[levels_.size() - 2];
    Fd up(disk::openat(fd(), "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    FolderFacts facts;
    if (!up || !look_at_folder(up.get(), facts)) return errno_error(errno, "leave " + shown());
    if (facts.device != above.device || facts.inode != above.inode)
      return make_error(ErrorCode::conflict, shown() + " was moved while its tree was walked");
    TRY(push_open(std::move(up), "", false));
    if (reopened_ == Reopened::behind_child && above.position != 0)
      ::seekdir(open_.front().stream.get(), above.position);
    open_.front().position = above.position;
  }
  std::string name = std::move(open_.back().name);
  open_.pop_back();
  levels_.pop_back();
  return name;
}

}  // namespace lockstep::io
