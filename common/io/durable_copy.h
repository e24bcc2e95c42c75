#pragma once
// Copies files so that the copies are on disk when the function returns, and a shared lock that
// keeps the owner of the sources away while they are copied.

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

// Makes the entries of a directory durable: files that were made or renamed in it stay.
Status sync_directory(const std::string& path);

// Copies the first `limit` bytes of a regular file to a new file of mode 0600. They share blocks
// where the file system supports that (reflink).
Status copy_file(const std::string& from, const std::string& to, std::uint64_t limit = UINT64_MAX);

// Hard-links a file that is never changed; copies it if linking fails.
Status link_or_copy(const std::string& from, const std::string& to);

// A shared advisory lock (flock) on the file of a FileLock. Several processes can hold it at once,
// but not while the FileLock is held.
class SharedLock {
 public:
  // Takes the lock; blocks. Returns not_found if the file does not exist: a file made here might be
  // closed to the owner.
  static Result<SharedLock> acquire(const std::string& path);

 private:
  explicit SharedLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace lockstep::io
