#include "common/io/disk.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>

#include "common/base/check.h"

namespace lockstep::io::disk {
namespace {

std::atomic<Faults*> in_front{nullptr};

// Makes the call itself, unless a test injects a fault.
template <typename Do>
int guarded(Call call, const Do& perform) {
  const auto bad = fault(call);
  if (!bad) return perform();
  errno = bad->error;
  return -1;
}

template <typename Do>
ssize_t guarded_write(std::size_t size, const Do& perform) {
  const auto bad = fault(Call::write, size);
  if (!bad) return perform(size);
  const std::size_t first = std::min(bad->first.value_or(0), size);
  if (first > 0) return perform(first);
  errno = bad->error;
  return -1;
}

bool may_change(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0; }

}  // namespace

std::optional<Fault> fault(Call call, std::size_t bytes) {
  Faults* faults = in_front.load(std::memory_order_acquire);
  return faults == nullptr ? std::nullopt : faults->before(call, bytes);
}

InFront::InFront(Faults& faults) {
  CHECK(in_front.exchange(&faults) == nullptr, "one set of faults at a time");
}
InFront::~InFront() { in_front.store(nullptr); }

int open(const char* path, int flags, mode_t mode) { return openat(AT_FDCWD, path, flags, mode); }

int openat(int folder, const char* path, int flags, mode_t mode) {
  const auto perform = [&] { return ::openat(folder, path, flags, mode); };
  return guarded(may_change(flags) ? Call::create : Call::open, perform);
}

int openat2(int folder, const char* path, const open_how& how) {
  const Call call = may_change(static_cast<int>(how.flags)) ? Call::create : Call::open;
  return guarded(call, [&] {
    return static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
  });
}

ssize_t write(int fd, const void* data, std::size_t size) {
  return guarded_write(size, [&](std::size_t most) { return ::write(fd, data, most); });
}

ssize_t pwrite(int fd, const void* data, std::size_t size, off_t offset) {
  return guarded_write(size, [&](std::size_t most) { return ::pwrite(fd, data, most, offset); });
}

int fsync(int fd) {
  return guarded(Call::sync, [&] { return ::fsync(fd); });
}

int fdatasync(int fd) {
  return guarded(Call::sync, [&] { return ::fdatasync(fd); });
}

void begin_sync(int fd, off_t offset, off_t size) {
  (void)::sync_file_range(fd, offset, size, SYNC_FILE_RANGE_WRITE);
}

int syncfs(int fd) {
  return guarded(Call::sync, [&] { return ::syncfs(fd); });
}

int ftruncate(int fd, off_t size) {
  return guarded(Call::resize, [&] { return ::ftruncate(fd, size); });
}

int fallocate(int fd, int mode, off_t offset, off_t size) {
  return guarded(Call::resize, [&] { return ::fallocate(fd, mode, offset, size); });
}

int clone(int to, int from) {
  return guarded(Call::write, [&] { return ::ioctl(to, FICLONE, from); });
}

int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int mkdirat(int folder, const char* path, mode_t mode) {
  return guarded(Call::folder, [&] { return ::mkdirat(folder, path, mode); });
}

int rename(const char* from, const char* to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return guarded(Call::rename, [&] { return ::renameat(from_folder, from, to_folder, to); });
}

int rename_new(int from_folder, const char* from, int to_folder, const char* to) {
  return guarded(Call::rename, [&] {
    const int renamed = ::renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE);
    if (renamed == 0 || (errno != EINVAL && errno != ENOSYS)) return renamed;
    // NFS has no rename that keeps an existing file, but it has links.
    const int linked = ::linkat(from_folder, from, to_folder, to, 0);
    return linked != 0 ? linked : ::unlinkat(from_folder, from, 0);
  });
}

int link(const char* from, const char* to) {
  return guarded(Call::link, [&] { return ::link(from, to); });
}

int link_open_file(int fd, int folder, const char* name) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return guarded(Call::link,
                 [&] { return ::linkat(AT_FDCWD, path.c_str(), folder, name, AT_SYMLINK_FOLLOW); });
}

int symlinkat(const char* target, int folder, const char* path) {
  return guarded(Call::link, [&] { return ::symlinkat(target, folder, path); });
}

int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }

int unlinkat(int folder, const char* path, int flags) {
  return guarded(Call::remove, [&] { return ::unlinkat(folder, path, flags); });
}

int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int fchown(int fd, uid_t uid, gid_t gid) {
  return guarded(Call::owner, [&] { return ::fchown(fd, uid, gid); });
}

int fchown_link(int folder, const char* name, uid_t uid, gid_t gid) {
  return guarded(Call::owner,
                 [&] { return ::fchownat(folder, name, uid, gid, AT_SYMLINK_NOFOLLOW); });
}

int fchmod(int fd, mode_t mode) {
  return guarded(Call::mode, [&] { return ::fchmod(fd, mode); });
}

int fchmod_path(int fd, mode_t mode) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return guarded(Call::mode, [&] { return ::chmod(path, mode); });
}

}  // namespace lockstep::io::disk
