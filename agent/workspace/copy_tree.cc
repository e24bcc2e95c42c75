#include "agent/workspace/copy_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <vector>

#include "common/base/quoted_name.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/snapshot/manifest.h"

namespace lockstep::agent {
namespace {

constexpr std::size_t kBufferBytes = 256u << 10;

class Copier {
 public:
  explicit Copier(const snapshot::Owner& owner)
      : owner_(owner),
        must_give_(owner.uid != snapshot::current_owner().uid ||
                   owner.gid != snapshot::current_owner().gid) {}

  Status folder(int from_parent, int to_parent, const std::string& from, const std::string& to);

 private:
  Status entry(int from, int to, const std::string& name);
  Status file(int from, int to, const std::string& name, const struct stat& info);
  Status content(int from, int to, const std::string& name);
  Status link(int from, int to, const std::string& name);

  const snapshot::Owner owner_;
  const bool must_give_;
  bool can_clone_ = true;
  int depth_ = 0;  // of the folder that is copied, below the top
};

Result<std::vector<std::string>> names_in(int fd, const std::string& path) {
  const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!stream) return errno_error(errno, "cannot list " + path);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

Status Copier::folder(int from_parent, int to_parent, const std::string& from,
                      const std::string& to) {
  if (depth_ > snapshot::kMaxTreeDepth)
    return make_error(
        ErrorCode::unsupported,
        fmt::format("{} is more than {} folders deep", quoted_name(from), snapshot::kMaxTreeDepth));
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const io::Fd source(io::disk::openat(from_parent, from.c_str(), kFlags));
  if (!source) return errno_error(errno, "cannot open " + from);
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) return errno_error(errno, "cannot stat " + from);
  if (io::disk::mkdirat(to_parent, to.c_str(), 0700) != 0)
    return errno_error(errno, "cannot make " + to);
  const io::Fd target(io::disk::openat(to_parent, to.c_str(), kFlags));
  if (!target) return errno_error(errno, "cannot open " + to);
  TRY_ASSIGN(const std::vector<std::string> names, names_in(source.get(), from));
  ++depth_;
  for (const std::string& name : names) TRY(entry(source.get(), target.get(), name));
  --depth_;
  if (must_give_ && io::disk::fchown(target.get(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + to);
  }
  if (io::disk::fchmod(target.get(), info.st_mode & 01777) != 0) {
    return errno_error(errno, "cannot set the mode of " + to);
  }
  return {};
}

Status Copier::entry(int from, int to, const std::string& name) {
  struct stat info {};
  if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno_error(errno, "cannot stat " + name);
  }
  if (S_ISDIR(info.st_mode)) return folder(from, to, name, name);
  if (S_ISLNK(info.st_mode)) return link(from, to, name);
  return file(from, to, name, info);
}

// With its time: by that a file that the ranks changed is told from one that was staged.
Status Copier::file(int from, int to, const std::string& name, const struct stat& info) {
  const io::Fd source(::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!source) return errno_error(errno, "cannot read " + name);
  const io::Fd target(io::disk::openat(to, name.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target) return errno_error(errno, "cannot make " + name);
  can_clone_ = can_clone_ && io::disk::clone(target.get(), source.get()) == 0;
  if (!can_clone_) TRY(content(source.get(), target.get(), name));
  if (must_give_ && io::disk::fchown(target.get(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + name);
  }
  const timespec times[] = {info.st_atim, info.st_mtim};
  if (::futimens(target.get(), times) != 0)
    return errno_error(errno, "cannot set the time of " + name);
  if (io::disk::fchmod(target.get(), info.st_mode & 0777) != 0) {
    return errno_error(errno, "cannot set the mode of " + name);
  }
  return {};
}

Status Copier::content(int from, int to, const std::string& name) {
  std::string buffer(kBufferBytes, '\0');
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got == 0) return {};
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read " + name);
    const Status written = io::write_all(to, {buffer.data(), static_cast<std::size_t>(got)});
    if (!written) return written.error().within("copying " + name);
  }
}

Status Copier::link(int from, int to, const std::string& name) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(from, name.c_str(), target, sizeof target - 1);
  if (size < 0) return errno_error(errno, "cannot read the symlink " + name);
  target[size] = '\0';
  if (io::disk::symlinkat(target, to, name.c_str()) != 0) {
    return errno_error(errno, "cannot make the symlink " + name);
  }
  if (must_give_ && io::disk::fchown_link(to, name.c_str(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + name);
  }
  return {};
}

}  // namespace

Status copy_tree(const std::string& from, const std::string& to, const snapshot::Owner& owner) {
  auto copied = Copier(owner).folder(AT_FDCWD, AT_FDCWD, from, to);
  if (!copied) return copied.error().within("cannot copy the source tree to " + to);
  return {};
}

}  // namespace lockstep::agent
