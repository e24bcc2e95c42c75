#include "agent/workspace/trees/shared_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <thread>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/base/utf8.h"
#include "common/domain/data/outputs.h"
#include "common/io/clock.h"
#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/snapshot/manifest.h"

namespace lockstep::agent {
namespace {

constexpr const char* kClaim = ".lockstep-replacing";
constexpr std::size_t kCompareBytes = 256u << 10;
constexpr int kMaxBeside = 100;  // the most temporary names beside one file
constexpr Duration kLookAgainAfter = milliseconds(5);

std::int64_t changed_ns(const struct stat& info) {
  return info.st_ctim.tv_sec * 1'000'000'000LL + info.st_ctim.tv_nsec;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Opens the file if possible: NFS then asks its server instead of its cache.
bool look(int folder, const std::string& name, struct stat& info) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const io::Fd fd(::openat(folder, name.c_str(), kFlags));
  if (fd) return ::fstat(fd.get(), &info) == 0;
  return errno != ENOENT && ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<std::string> target_of(int folder, const std::string& name) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(folder, name.c_str(), target, sizeof target);
  if (size < 0) return errno_error(errno, "cannot read the symlink " + name);
  return std::string(target, static_cast<std::size_t>(size));
}

Result<std::size_t> read_part(int fd, std::string& buffer, const std::string& name) {
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(fd, buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read " + name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

Result<bool> have_same_bytes(int folder, const std::string& a, const std::string& b) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const io::Fd first(::openat(folder, a.c_str(), kFlags));
  const io::Fd second(::openat(folder, b.c_str(), kFlags));
  if (!first) return errno_error(errno, "cannot read " + a);
  if (!second) return false;  // the file is gone, or this user may not read it
  std::string left(kCompareBytes, '\0'), right(kCompareBytes, '\0');
  for (;;) {
    TRY_ASSIGN(const std::size_t size, read_part(first.get(), left, a));
    TRY_ASSIGN(const std::size_t other, read_part(second.get(), right, b));
    if (size != other || left.compare(0, size, right, 0, size) != 0) return false;
    if (size == 0) return true;
  }
}

Result<bool> have_same_content(int folder, const std::string& made, const struct stat& mine,
                               const std::string& name, const struct stat& there) {
  if ((mine.st_mode & S_IFMT) != (there.st_mode & S_IFMT)) return false;
  if (S_ISREG(mine.st_mode))
    return mine.st_size == there.st_size ? have_same_bytes(folder, made, name) : false;
  if (!S_ISLNK(mine.st_mode)) return false;
  TRY_ASSIGN(const std::string target, target_of(folder, made));
  const auto other = target_of(folder, name);
  return other && *other == target;
}

// A lock on a folder: while it exists, no other node replaces an entry there.
class Claim {
 public:
  static Result<Claim> take(int folder, Duration longest);
  ~Claim() {
    if (folder_ >= 0) io::disk::unlinkat(folder_, kClaim, 0);
  }
  Claim(Claim&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}

 private:
  explicit Claim(int folder) : folder_(folder) {}
  int folder_;
};

Result<Claim> Claim::take(int folder, Duration longest) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    if (const io::Fd made(io::disk::openat(folder, kClaim, kFlags, 0600)); made)
      return Claim(folder);
    if (errno != EEXIST) return errno_error(errno, fmt::format("cannot make {}", kClaim));
    if (std::chrono::steady_clock::now() - start < longest)
      std::this_thread::sleep_for(kLookAgainAfter);
    else if (io::disk::unlinkat(folder, kClaim, 0) != 0 && errno != ENOENT)
      return errno_error(errno, fmt::format("cannot remove {}, which another node left", kClaim));
  }
}

// The current time of the folder's file system.
Result<std::int64_t> time_of(int folder, const OneOfNodes& node) {
  TRY_ASSIGN(const Claim claim, Claim::take(folder, node.longest_claim));
  struct stat info {};
  if (::fstatat(folder, kClaim, &info, AT_SYMLINK_NOFOLLOW) == 0) return changed_ns(info);
  return errno_error(errno, fmt::format("cannot stat {}", kClaim));
}

// Replaces an entry. False: another file has taken the entry's name since it was seen.
Result<bool> replace(int folder, const std::string& made, const std::string& name,
                     const struct stat& seen, const OneOfNodes& node) {
  TRY_ASSIGN(const Claim claim, Claim::take(folder, node.longest_claim));
  struct stat there {};
  if (!look(folder, name, there) || !is_same_file(there, seen)) return false;
  if (io::disk::renameat(folder, made.c_str(), folder, name.c_str()) == 0) return true;
  return errno_error(errno, "cannot replace " + name);
}

}  // namespace

// Whether a file changed after the ranks began. `now_ns`: the file system's time, read at about the
// same moment.
bool SharedPlace::is_later(std::int64_t changed_ns, std::int64_t now_ns) const {
  const Duration since = std::max(Duration(0), io::wall_clock() - node_.prepared);
  return changed_ns >= now_ns - since.count();
}

std::string SharedPlace::beside(const std::string& name, int tries) const {
  if (tries == 0) return name;
  const std::string suffix = fmt::format(".node{}{}", node_.node_rank, std::string(tries - 1, '_'));
  return std::string(head(name, snapshot::kMaxNameBytes - suffix.size())) + suffix;
}

void SharedPlace::note(const std::string& path, const std::string& name,
                       const std::string& kept_as) {
  if (kept_as == name) return;
  if (notes_.size() == kMaxOutputProblems) {
    ++more_notes_;
    return;
  }
  notes_.push_back(fmt::format("{} differs between nodes: that of node rank {} was kept as {}",
                               quoted_name(path + name), node_.node_rank,
                               quoted_name(path + kept_as)));
}

std::vector<std::string> SharedPlace::notes() const {
  std::vector<std::string> all = notes_;
  if (more_notes_ > 0) all.push_back(fmt::format("and {} more", more_notes_));
  return all;
}

Status SharedPlace::settle(int folder, const std::string& made, const std::string& name,
                           const std::string& path) {
  struct stat mine {};
  if (::fstatat(folder, made.c_str(), &mine, AT_SYMLINK_NOFOLLOW) != 0)
    return errno_error(errno, "cannot stat " + made);
  for (int tries = 0; tries < kMaxBeside;) {
    const std::string as = beside(name, tries);
    if (io::disk::rename_new(folder, made.c_str(), folder, as.c_str()) == 0) {
      note(path, name, as);
      return {};
    }
    if (errno != EEXIST) return errno_error(errno, "cannot replace " + as);
    struct stat there {};
    if (!look(folder, as, there)) continue;  // another node removed it meanwhile
    if (is_later(changed_ns(there), changed_ns(mine))) {
      TRY_ASSIGN(const bool is_same, have_same_content(folder, made, mine, as, there));
      if (!is_same) {
        ++tries;
        continue;
      }
      note(path, name, as);
      if (io::disk::unlinkat(folder, made.c_str(), 0) == 0) return {};
      return errno_error(errno, "cannot remove " + made);
    }
    TRY_ASSIGN(const bool is_replaced, replace(folder, made, as, there, node_));
    if (!is_replaced) continue;
    note(path, name, as);
    return {};
  }
  return make_error(ErrorCode::already_exists,
                    fmt::format("{} and {} other names for it are taken by other files",
                                quoted_name(path + name), kMaxBeside - 1));
}

Result<SharedPlace::Folder> SharedPlace::make_folder(int folder, const std::string& name,
                                                     const std::string& path) {
  for (int tries = 0; tries < kMaxBeside; ++tries) {
    const std::string as = beside(name, tries);
    const bool is_new = io::disk::mkdirat(folder, as.c_str(), 0700) == 0;
    if (!is_new && errno != EEXIST) return errno_error(errno, "cannot make " + as);
    struct stat there {};
    if (!is_new && !look(folder, as, there)) return errno_error(errno, "cannot stat " + as);
    if (is_new || S_ISDIR(there.st_mode)) {
      note(path, name, as);
      return Folder{as, is_new};
    }
    TRY_ASSIGN(const std::int64_t now, time_of(folder, node_));
    if (!is_later(changed_ns(there), now)) break;
  }
  return make_error(ErrorCode::already_exists,
                    fmt::format("{} is there and not a folder", quoted_name(path + name)));
}

}  // namespace lockstep::agent
