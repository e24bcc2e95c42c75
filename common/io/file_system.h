#pragma once
// Basic file operations: whole-file reads, durable atomic writes, directories, locks. Every error
// names the path. Durable means: fsync of the file, rename, fsync of the directory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace lockstep::io {

// Owns a file descriptor and closes it.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

Result<std::string> read_file(const std::string& path, Bytes limit = mebibytes(256));
// Reads standard input to its end. Errors call it "standard input".
Result<std::string> read_standard_input(Bytes limit = mebibytes(256));
// Reads a file as read_file does, but never blocks: a pipe, a device or a folder is refused
// (unsupported).
Result<std::string> read_regular_file(const std::string& path, Bytes limit = mebibytes(256));
// Writes a temporary file in the same directory and renames it. When `durable`, also syncs the file
// before the rename and the directory after it.
Status write_file_atomically(const std::string& path, std::string_view data, int mode = 0644,
                             bool durable = true);
Status make_directories(const std::string& path, int mode = 0755);
// Removes a tree without following symlinks; a missing path is success. Crosses no mount point.
Status remove_tree(const std::string& path);
Result<std::vector<std::string>> list_directory(const std::string& path);  // names, sorted
bool exists(const std::string& path);
Result<Fd> open_file(const std::string& path, int flags, int mode = 0644);
Status write_all(int fd, std::string_view data);

// An exclusive advisory lock (flock), held while the object exists. The kernel drops it when the
// process dies.
class FileLock {
 public:
  // Takes the lock; nullopt: someone else holds it.
  static Result<std::optional<FileLock>> try_acquire(const std::string& path);
  static Result<FileLock> acquire(const std::string& path);  // blocks

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace lockstep::io
