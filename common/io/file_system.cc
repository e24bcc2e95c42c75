#include "common/io/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/io/disk.h"
#include "common/io/file_error.h"

namespace lockstep::io {
namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status sync_directory(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return file_error(errno, "open directory", path);
  if (disk::fsync(fd.get()) != 0) return file_error(errno, "fsync directory", path);
  return {};
}

// A name beside `path` that no other writer uses, made of the process id and a counter.
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

// Errors name the file that was asked for, because the temporary name differs in each try.
Status write_beside(const std::string& beside, const std::string& asked, std::string_view data,
                    int mode, bool durable) {
  Fd fd(disk::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return file_error(errno, "create", asked);
  if (const Status written = write_all(fd.get(), data); !written)
    return written.error().within(asked);
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return file_error(errno, "chmod", asked);
  if (durable && disk::fsync(fd.get()) != 0) return file_error(errno, "fsync", asked);
  return {};
}

struct DirectoryCloser {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, DirectoryCloser>;

}  // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

namespace {

Result<std::string> read_all(const Fd& fd, const std::string& path, Bytes limit) {
  struct stat status {};
  std::string data;
  if (::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    if (static_cast<std::uint64_t>(status.st_size) > limit.count) {
      return make_error(ErrorCode::resource_exhausted,
                        "read " + path + ": it is larger than " + to_string(limit));
    }
    data.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(errno, "read", path);
    if (got == 0) return data;
    data.append(buffer, static_cast<std::size_t>(got));
    if (data.size() > limit.count) {
      return make_error(ErrorCode::resource_exhausted,
                        "read " + path + ": it is larger than " + to_string(limit));
    }
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path, Bytes limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return file_error(errno, "open", path);
  return read_all(fd, path, limit);
}

Result<std::string> read_standard_input(Bytes limit) {
  const std::string name = "standard input";
  const Fd fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (!fd) return file_error(errno, "read", name);
  return read_all(fd, name, limit);
}

Result<std::string> read_regular_file(const std::string& path, Bytes limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  const bool is_other = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (!fd && !is_other) return file_error(errno, "open", path);
  if (is_other || (::fstat(fd.get(), &status) == 0 && !S_ISREG(status.st_mode)))
    return make_error(ErrorCode::unsupported, "read " + path + ": it is not a regular file");
  return read_all(fd, path, limit);
}

Status write_file_atomically(const std::string& path, std::string_view data, int mode,
                             bool durable) {
  const std::string beside = name_beside(path);
  Status status = write_beside(beside, path, data, mode, durable);
  if (status && disk::rename(beside.c_str(), path.c_str()) != 0) {
    status = file_error(errno, "rename a new file to", path);
  }
  if (!status) {
    disk::unlink(beside.c_str());
    return status;
  }
  return durable ? sync_directory(parent_of(path)) : Status{};
}

Status make_directories(const std::string& path, int mode) {
  if (disk::mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0) return {};
  if (errno == ENOENT) {
    const std::string parent = parent_of(path);
    if (parent == path || parent == ".") return file_error(ENOENT, "make directory", path);
    TRY(make_directories(parent, mode));
    if (disk::mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0) return {};
  }
  if (errno != EEXIST) return file_error(errno, "make directory", path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return file_error(errno, "make directory", path);
  if (!S_ISDIR(status.st_mode)) {
    return make_error(ErrorCode::already_exists,
                      "make directory " + path + ": something else has that name; remove it");
  }
  return {};
}

Result<std::vector<std::string>> list_directory(const std::string& path) {
  Directory directory(::opendir(path.c_str()));
  if (!directory) return file_error(errno, "list", path);
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // reset each time, since allocations in between may set it
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return file_error(errno, "list", path);
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<Fd> open_file(const std::string& path, int flags, int mode) {
  Fd fd(disk::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!fd) return file_error(errno, "open", path);
  return fd;
}

Status write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t done = disk::write(fd, data.data(), data.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return file_error(errno, "write", "(descriptor " + std::to_string(fd) + ")");
    data.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

Result<std::optional<FileLock>> FileLock::try_acquire(const std::string& path) {
  TRY_ASSIGN(Fd fd, open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return file_error(errno, "lock", path);
  }
  return std::optional<FileLock>(FileLock(std::move(fd)));
}

Result<FileLock> FileLock::acquire(const std::string& path) {
  TRY_ASSIGN(Fd fd, open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return file_error(errno, "lock", path);
  }
  return FileLock(std::move(fd));
}

}  // namespace lockstep::io
