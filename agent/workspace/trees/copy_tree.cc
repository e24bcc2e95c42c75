#include "agent/workspace/trees/copy_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/quoted_name.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/files/sparse_file.h"
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

  // Makes a copy that the calling thread's user owns and may change.
  enum class Existing { is_error, is_replaced };
  explicit Copier(Existing existing, SharedPlace* shared = nullptr)
      : owner_(snapshot::current_owner()),
        must_give_(false),
        more_mode_(0600),
        replaces_(existing == Existing::is_replaced),
        shared_(shared) {}

  Status folder(int from_parent, int to_parent, const std::string& from, const std::string& to);
  Status entry(int from, int to, const std::string& name) { return entry(from, to, name, name); }
  Status entry(int from, int to, const std::string& name, const std::string& as);
  Status content(int from, int to, const std::string& name);

 private:
  Status file(int from, int to, const std::string& name, const std::string& as,
              const struct stat& info);
  Status fill(const io::Fd& source, const io::Fd& target, const std::string& name,
              const struct stat& info);
  Result<bool> make_folder(int parent, std::string& name);  // false: the folder was there before
  // The temporary name of an entry, and its change to the final one.
  std::string staged(const std::string& name);
  Status settle(int to, const std::string& made, const std::string& name) const;
  Status given_up(int to, const std::string& made, Status why) const;
  Status link(int from, int to, const std::string& name, const std::string& as);

  const snapshot::Owner owner_;
  const bool must_give_;
  const mode_t more_mode_ = 0;  // mode bits that every file and folder gets in addition
  const bool replaces_ = false;
  SharedPlace* const shared_ = nullptr;
  std::string path_;  // path below the folder that is copied: "a/b/"
  int staged_ = 0;
  bool can_clone_ = true;
  int depth_ = 0;  // depth below the folder that is copied
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

Result<bool> Copier::make_folder(int parent, std::string& name) {
  if (shared_ != nullptr) {
    TRY_ASSIGN(SharedPlace::Folder made, shared_->make_folder(parent, name, path_));
    name = std::move(made.name);
    return made.is_new;
  }
  if (io::disk::mkdirat(parent, name.c_str(), 0700) == 0) return true;
  if (errno == EEXIST && replaces_) return false;
  return errno_error(errno, "cannot make " + name);
}

Status Copier::folder(int from_parent, int to_parent, const std::string& from,
                      const std::string& wanted) {
  if (depth_ > snapshot::kMaxTreeDepth)
    return make_error(
        ErrorCode::unsupported,
        fmt::format("{} is more than {} folders deep", quoted_name(from), snapshot::kMaxTreeDepth));
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const io::Fd source(io::disk::openat(from_parent, from.c_str(), kFlags));
  if (!source) return errno_error(errno, "cannot open " + from);
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) return errno_error(errno, "cannot stat " + from);
  std::string to = wanted;
  TRY_ASSIGN(const bool is_new, make_folder(to_parent, to));
  const io::Fd target(io::disk::openat(to_parent, to.c_str(), kFlags));
  if (!target) return errno_error(errno, "cannot open " + to);
  TRY_ASSIGN(const std::vector<std::string> names, names_in(source.get(), from));
  ++depth_;
  const std::size_t above = path_.size();
  path_ += to + "/";
  for (const std::string& name : names) TRY(entry(source.get(), target.get(), name));
  path_.resize(above);
  --depth_;
  if (!is_new) return {};
  if (must_give_ && io::disk::fchown(target.get(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + to);
  }
  const mode_t more = more_mode_ == 0 ? 0 : 0700;
  if (io::disk::fchmod(target.get(), (info.st_mode & 01777) | more) != 0) {
    return errno_error(errno, "cannot set the mode of " + to);
  }
  return {};
}

std::string Copier::staged(const std::string& name) {
  if (!replaces_) return name;
  // Agents of several nodes that write to one folder may have the same pid, so the name has the
  // node rank, too.
  const std::string node = shared_ == nullptr ? "" : fmt::format("{}-", shared_->node_rank());
  return fmt::format(".lockstep-{}{}-{}", node, ::getpid(), staged_++);
}

// Removes an incomplete copy from the user's folder.
Status Copier::given_up(int to, const std::string& made, Status why) const {
  if (replaces_) io::disk::unlinkat(to, made.c_str(), 0);
  return why;
}

Status Copier::settle(int to, const std::string& made, const std::string& name) const {
  if (shared_ != nullptr) {
    Status settled = shared_->settle(to, made, name, path_);
    return settled ? settled : given_up(to, made, std::move(settled));
  }
  if (!replaces_ || io::disk::renameat(to, made.c_str(), to, name.c_str()) == 0) return {};
  return given_up(to, made, errno_error(errno, "cannot replace " + name));
}

Status Copier::entry(int from, int to, const std::string& name, const std::string& as) {
  struct stat info {};
  if (::fstatat(from, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno_error(errno, "cannot stat " + name);
  }
  if (S_ISDIR(info.st_mode)) return folder(from, to, name, as);
  if (S_ISLNK(info.st_mode)) return link(from, to, name, as);
  if (!S_ISREG(info.st_mode))
    return make_error(ErrorCode::unsupported,
                      quoted_name(name) + " is neither a file, a folder nor a link");
  return file(from, to, name, as, info);
}

// Keeps the file's time: a later time shows that the ranks changed a staged file.
Status Copier::file(int from, int to, const std::string& name, const std::string& as,
                    const struct stat& info) {
  // O_NONBLOCK, because a pipe may have taken the file's place, and opening it would wait.
  const io::Fd source(::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!source) return errno_error(errno, "cannot read " + name);
  const std::string made = staged(as);
  const io::Fd target(io::disk::openat(to, made.c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!target) return errno_error(errno, "cannot make " + name);
  if (Status filled = fill(source, target, name, info); !filled)
    return given_up(to, made, std::move(filled));
  return settle(to, made, as);
}

Status Copier::fill(const io::Fd& source, const io::Fd& target, const std::string& name,
                    const struct stat& info) {
  can_clone_ = can_clone_ && io::disk::clone(target.get(), source.get()) == 0;
  if (!can_clone_) TRY(content(source.get(), target.get(), name));
  if (must_give_ && io::disk::fchown(target.get(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + name);
  }
  const timespec times[] = {info.st_atim, info.st_mtim};
  if (::futimens(target.get(), times) != 0)
    return errno_error(errno, "cannot set the time of " + name);
  if (io::disk::fchmod(target.get(), (info.st_mode & 0777) | more_mode_) != 0) {
    return errno_error(errno, "cannot set the mode of " + name);
  }
  return {};
}

Status Copier::content(int from, int to, const std::string& name) {
  std::string buffer(kBufferBytes, '\0');
  io::SparseWriter content(to);
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read " + name);
    const Status written = got == 0
                               ? content.finish()
                               : content.append({buffer.data(), static_cast<std::size_t>(got)});
    if (!written) return written.error().within("copying " + name);
    if (got == 0) return {};
  }
}

Status Copier::link(int from, int to, const std::string& name, const std::string& as) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(from, name.c_str(), target, sizeof target - 1);
  if (size < 0) return errno_error(errno, "cannot read the symlink " + name);
  target[size] = '\0';
  const std::string made = staged(as);
  if (io::disk::symlinkat(target, to, made.c_str()) != 0) {
    return errno_error(errno, "cannot make the symlink " + name);
  }
  if (must_give_ && io::disk::fchown_link(to, made.c_str(), owner_.uid, owner_.gid) != 0) {
    return errno_error(errno, "cannot change the owner of " + name);
  }
  return settle(to, made, as);
}

}  // namespace

Status copy_opened(const io::OpenedPlace& from, const std::string& shown, const std::string& file,
                   int to) {
  Copier copier(Copier::Existing::is_error);
  const io::Fd source = io::reopen(from.fd.get(), O_RDONLY | (from.is_folder ? O_DIRECTORY : 0));
  if (!source) return errno_error(errno, "cannot read " + shown);
  if (!from.is_folder) {
    const io::Fd target(io::disk::openat(
        to, file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!target) return errno_error(errno, "cannot make " + file);
    return copier.content(source.get(), target.get(), shown);
  }
  TRY_ASSIGN(const std::vector<std::string> names, names_in(source.get(), shown));
  for (const std::string& name : names)
    if (const Status copied = copier.entry(source.get(), to, name); !copied)
      return copied.error().within("cannot copy " + shown);
  return {};
}

Status copy_over(int from, const std::string& only, const std::string& file, int to,
                 SharedPlace* shared) {
  Copier copier(Copier::Existing::is_replaced, shared);
  if (!only.empty()) return copier.entry(from, to, only, file);
  TRY_ASSIGN(const std::vector<std::string> names, names_in(from, "the output"));
  for (const std::string& name : names) TRY(copier.entry(from, to, name));
  return {};
}

Status copy_tree(const std::string& from, const std::string& to, const snapshot::Owner& owner) {
  auto copied = Copier(owner).folder(AT_FDCWD, AT_FDCWD, from, to);
  if (!copied) return copied.error().within("cannot copy the source tree to " + to);
  return {};
}

}  // namespace lockstep::agent
