#include "common/io/files/tree_size.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/io/clock.h"
#include "common/io/folder_stack.h"

namespace lockstep::io {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint64_t kBlock = 512;        // unit of st_blocks on every file system
constexpr std::uint64_t kLookAtClock = 256;  // the number of entries after which the clock is read

class Walk {
 public:
  Walk(const std::string& path, const std::vector<std::string>& left_out, Duration most)
      : stack_(path, FolderStack::Reopened::behind_child),
        left_out_(left_out),
        until_(clock_.now() + most) {}

  Status begin(Fd top) {
    FolderFacts facts;
    if (!look_at_folder(top.get(), facts)) return errno_error(errno, "measure " + stack_.shown());
    mount_ = facts.mount;
    return stack_.enter(std::move(top), facts, "");
  }

  TreeSize run() {
    while (!stack_.empty()) {
      if (size_.entries % kLookAtClock == 0 && clock_.now() >= until_) return cut();
      const auto entry = stack_.next();
      if (!entry) return cut();
      if (*entry == nullptr) {
        if (!stack_.leave()) return cut();
        continue;
      }
      ++size_.entries;
      if (!count((*entry)->d_name)) return cut();
    }
    return size_;
  }

 private:
  TreeSize cut() {
    size_.is_whole = false;
    return size_;
  }

  // Entries that have gone, or cannot be read, count as nothing.
  Status count(const std::string& name) {
    if (stack_.depth() == 1 &&
        std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end())
      return {};
    struct stat info {};
    if (::fstatat(stack_.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    const bool is_folder = S_ISDIR(info.st_mode);
    const std::uint64_t names = is_folder ? 1 : std::max<std::uint64_t>(info.st_nlink, 1);
    size_.bytes.count += static_cast<std::uint64_t>(info.st_blocks) * kBlock / names;
    if (!is_folder) return {};
    Fd folder(::openat(stack_.fd(), name.c_str(), kFolder));
    FolderFacts facts;
    if (!folder || !look_at_folder(folder.get(), facts) || facts.mount != mount_) return {};
    return stack_.enter(std::move(folder), facts, name);
  }

  FolderStack stack_;
  const std::vector<std::string>& left_out_;
  SystemClock clock_;
  const Instant until_;
  std::uint64_t mount_ = 0;
  TreeSize size_;
};

}  // namespace

Result<TreeSize> measure_tree(const std::string& path, const std::vector<std::string>& left_out,
                              Duration most) {
  Fd top(::open(path.c_str(), kFolder));
  if (!top) return errno_error(errno, "measure " + path);
  Walk walk(path, left_out, most);
  TRY(walk.begin(std::move(top)));
  return walk.run();
}

}  // namespace lockstep::io
