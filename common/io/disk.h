#pragma once
// The only functions through which the programs change a disk: the system calls of the same names,
// and nothing else. Each returns what the call returns (-1 and errno); callers write the messages.
// `scripts/layers` fails on calls that bypass this header. Tests can inject faults here, such as a
// full, broken or read-only disk; the programs never do.
//
// Never repeat a failed sync and believe the second result: the kernel may have dropped the bytes,
// and reports that only once. The writer discards those bytes, or its process exits.

#include <linux/openat2.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lockstep::io::disk {

int open(const char* path, int flags, mode_t mode = 0);
int openat(int folder, const char* path, int flags, mode_t mode = 0);
int openat2(int folder, const char* path, const open_how& how);
ssize_t write(int fd, const void* data, std::size_t size);
ssize_t pwrite(int fd, const void* data, std::size_t size, off_t offset);
int fsync(int fd);
int fdatasync(int fd);
// Begins to write these bytes to the disk, so that a later sync has less to wait for. It does not
// prove that they are written.
void begin_sync(int fd, off_t offset, off_t size);
int syncfs(int fd);
int ftruncate(int fd, off_t size);
int fallocate(int fd, int mode, off_t offset, off_t size);
int clone(int to, int from);  // FICLONE: both files share the blocks
int mkdir(const char* path, mode_t mode);
int mkdirat(int folder, const char* path, mode_t mode);
int rename(const char* from, const char* to);
int renameat(int from_folder, const char* from, int to_folder, const char* to);
// Fails with EEXIST if `to` exists.
int rename_new(int from_folder, const char* from, int to_folder, const char* to);
int link(const char* from, const char* to);
int link_open_file(int fd, int folder, const char* name);  // another name for the open file
int symlinkat(const char* target, int folder, const char* path);
int unlink(const char* path);
int unlinkat(int folder, const char* path, int flags);
int rmdir(const char* path);
int fchown(int fd, uid_t uid, gid_t gid);
// fchown() that follows no symlink
int fchown_link(int folder, const char* name, uid_t uid, gid_t gid);
int fchmod(int fd, mode_t mode);
int fchmod_path(int fd, mode_t mode);  // fchmod() for a descriptor that was opened with O_PATH

// ---- faults, for tests --------------------------------------------------------------------------

// The effect of a call on the disk. `open`: it changes nothing, but opens a file that may be
// changed later.
enum class Call { create, write, sync, resize, folder, rename, link, remove, open, owner, mode };

struct Fault {
  int error = 0;                     // errno of the call
  std::optional<std::size_t> first;  // for a write: only this many bytes are written
};

class Faults {
 public:
  virtual ~Faults() = default;
  // Called before each call, on its thread; nullopt: the call is made.
  virtual std::optional<Fault> before(Call call, std::size_t bytes) = 0;
};

// For code whose I/O does not go through this file (SQLite's): the fault of a test that this call
// must report; nullopt: none.
std::optional<Fault> fault(Call call, std::size_t bytes = 0);

// Puts `faults` before each call while this object exists. One at a time in a process.
class InFront {
 public:
  explicit InFront(Faults& faults);
  ~InFront();
  InFront(const InFront&) = delete;
  InFront& operator=(const InFront&) = delete;
};

}  // namespace lockstep::io::disk
