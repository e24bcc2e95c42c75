#include "common/io/files/disk_space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/io/disk.h"
#include "common/io/durable_copy.h"
#include "common/io/file_system.h"

namespace lockstep::io {

namespace {

// Writes zeros, for file systems without fallocate.
Status fill(int fd, std::uint64_t size) {
  const std::string zeros(1u << 20, '\0');
  for (std::uint64_t done = 0; done < size; done += zeros.size())
    TRY(write_all(
        fd, std::string_view(zeros).substr(0, std::min<std::uint64_t>(zeros.size(), size - done))));
  return {};
}

}  // namespace

DiskSpace space_of(const struct statvfs& info) {
  const auto block = static_cast<std::uint64_t>(info.f_frsize);
  return {Bytes{static_cast<std::uint64_t>(info.f_bavail) * block},
          Bytes{static_cast<std::uint64_t>(info.f_blocks) * block},
          Bytes{static_cast<std::uint64_t>(info.f_blocks - info.f_bfree) * block}};
}

Result<DiskSpace> disk_space(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0)
    return errno_error(errno, "measure the free space of " + path);
  return space_of(info);
}

Bytes default_low_space(Bytes total) {
  const std::uint64_t wanted = std::max(gibibytes(1).count, total.count / 50);
  return Bytes{std::min(wanted, total.count / 10)};
}

Status make_reserve(const std::string& path, Bytes size) {
  TRY_ASSIGN(const Fd file, open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && static_cast<std::uint64_t>(info.st_size) == size.count &&
      static_cast<std::uint64_t>(info.st_blocks) * 512 >= size.count)
    return {};
  Status made;
  if (disk::fallocate(file.get(), 0, 0, static_cast<off_t>(size.count)) != 0)
    made = errno == EOPNOTSUPP ? fill(file.get(), size.count)
                               : Status(errno_error(errno, "reserve space in " + path));
  if (!made) disk::unlink(path.c_str());
  return made ? made : Status(made.error().within(path));
}

Status write_into_reserve(const std::string& reserve, const std::string& path,
                          std::string_view data, int mode) {
  TRY_ASSIGN(const Fd file, open_file(reserve, O_WRONLY | O_NOFOLLOW));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_error(errno, "stat " + reserve);
  if (static_cast<std::uint64_t>(info.st_size) < data.size())
    return make_error(ErrorCode::resource_exhausted, reserve + " is too small for " + path);
  if (const Status written = write_all(file.get(), data); !written)
    return written.error().within(reserve);
  if (disk::ftruncate(file.get(), static_cast<off_t>(data.size())) != 0)
    return errno_error(errno, "cut " + reserve);
  if (::fchmod(file.get(), static_cast<mode_t>(mode)) != 0)
    return errno_error(errno, "chmod " + reserve);
  if (disk::fsync(file.get()) != 0) return errno_error(errno, "fsync " + reserve);
  if (disk::rename(reserve.c_str(), path.c_str()) != 0)
    return errno_error(errno, "rename " + reserve + " to " + path);
  return sync_directory(path.substr(0, path.rfind('/')));
}

bool release_reserve(const std::string& path) { return disk::unlink(path.c_str()) == 0; }

}  // namespace lockstep::io
