#pragma once
// Copies of files that are on disk when the function returns, and the lock that their sources'
// owner respects while they are made.

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/io/file_system.h"

namespace lockstep::io {

// Makes the entries of a directory durable: files that were renamed or created in it survive a
// crash.
Status sync_directory(const std::string& path);

// The first `limit` bytes of a regular file as a new file of mode 0600, shared with the source
// where the file system can (reflink).
Status copy_file(const std::string& from, const std::string& to, std::uint64_t limit = UINT64_MAX);

// A hard link to a file that nobody ever changes; a copy where links are not possible.
Status link_or_copy(const std::string& from, const std::string& to);

// A shared advisory lock (flock) on the file of a FileLock: held by several, and by none while a
// FileLock is.
class SharedLock {
 public:
  // Blocks. not_found: there is no such file; none is made, which its owner could not open.
  static Result<SharedLock> acquire(const std::string& path);

 private:
  explicit SharedLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace lockstep::io
