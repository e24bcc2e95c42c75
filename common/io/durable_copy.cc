#include "common/io/durable_copy.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/io/disk.h"

namespace lockstep::io {
namespace {

constexpr std::size_t kBufferBytes = 1u << 20;

Status copy_content(int from, int to, std::uint64_t limit, const std::string& path,
                    const std::string& to_path) {
  std::vector<char> buffer(kBufferBytes);
  for (std::uint64_t done = 0; done < limit;) {
    const std::size_t most =
        static_cast<std::size_t>(std::min<std::uint64_t>(limit - done, buffer.size()));
    const ssize_t got = ::read(from, buffer.data(), most);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read " + path);
    if (got == 0) return {};
    const Status written = write_all(to, {buffer.data(), static_cast<std::size_t>(got)});
    if (!written) return written.error().within(to_path);
    done += static_cast<std::uint64_t>(got);
  }
  return {};
}

}  // namespace

Status sync_directory(const std::string& path) {
  TRY_ASSIGN(const Fd fd, open_file(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (disk::fsync(fd.get()) != 0) return errno_error(errno, "cannot make durable " + path);
  return {};
}

Status copy_file(const std::string& from, const std::string& to, std::uint64_t limit) {
  TRY_ASSIGN(const Fd source, open_file(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  TRY_ASSIGN(const Fd target, open_file(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct stat info {};
  if (::fstat(source.get(), &info) != 0) return errno_error(errno, "cannot stat " + from);
  const bool whole = limit >= static_cast<std::uint64_t>(info.st_size);
  if (!whole || disk::clone(target.get(), source.get()) != 0)
    TRY(copy_content(source.get(), target.get(), limit, from, to));
  if (disk::fsync(target.get()) != 0) return errno_error(errno, "cannot make durable " + to);
  return {};
}

Status link_or_copy(const std::string& from, const std::string& to) {
  if (disk::link(from.c_str(), to.c_str()) == 0) return {};
  if (errno == EEXIST) return errno_error(errno, "cannot make " + to);
  return copy_file(from, to);
}

Result<SharedLock> SharedLock::acquire(const std::string& path) {
  TRY_ASSIGN(Fd fd, open_file(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  while (::flock(fd.get(), LOCK_SH) != 0) {
    if (errno != EINTR) return errno_error(errno, "cannot lock " + path);
  }
  return SharedLock(std::move(fd));
}

}  // namespace lockstep::io
