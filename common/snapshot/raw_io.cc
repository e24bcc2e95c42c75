#include "common/snapshot/raw_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/io/disk.h"
#include "common/io/file_system.h"

namespace lockstep::snapshot {

Status read_exactly_at(int fd, std::uint64_t offset, void* buffer, std::size_t size,
                       const std::string& path) {
  auto* to = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t got = ::pread(fd, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error(errno, "cannot read " + path);
    if (got == 0)
      return make_error(ErrorCode::corrupt, path + " is shorter than its own header or table says");
    to += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return {};
}

Status write_all_at(int fd, std::uint64_t offset, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t put = io::disk::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno_error(errno, "cannot write " + path);
    offset += static_cast<std::uint64_t>(put);
    data.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status sync_directory(const std::string& path) {
  TRY_ASSIGN(const io::Fd fd, io::open_file(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (io::disk::fsync(fd.get()) != 0) return errno_error(errno, "cannot fsync " + path);
  return {};
}

std::uint64_t word_hash(std::string_view bytes) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    mix(word);
    bytes.remove_prefix(sizeof word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes.data(), bytes.size());
  mix(rest);
  return hash;
}

}  // namespace lockstep::snapshot
