#include "common/io/files/sparse_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/io/disk.h"
#include "common/io/file_error.h"

namespace lockstep::io {
namespace {

std::string shown(int fd) { return fmt::format("(descriptor {})", fd); }

bool is_zeros(std::string_view data) {
  return data.empty() ||
         (data[0] == '\0' && std::memcmp(data.data(), data.data() + 1, data.size() - 1) == 0);
}

Status write_all_of(int fd, std::uint64_t offset, std::string_view data) {
  while (!data.empty()) {
    const ssize_t done = disk::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return file_error(errno, "write", shown(fd));
    offset += static_cast<std::uint64_t>(done);
    data.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

// The number of bytes up to the next multiple of kHoleBytes.
std::size_t block_at(std::uint64_t offset, std::size_t most) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(kHoleBytes - offset % kHoleBytes, most));
}

}  // namespace

Status write_sparse_at(int fd, std::uint64_t offset, std::string_view data) {
  std::size_t run = 0;  // bytes at the beginning of `data` that are to be written
  while (run < data.size()) {
    const std::size_t block = block_at(offset + run, data.size() - run);
    if (!is_zeros(data.substr(run, block))) {
      run += block;
      continue;
    }
    TRY(write_all_of(fd, offset, data.substr(0, run)));
    offset += run + block;
    data.remove_prefix(run + block);
    run = 0;
  }
  return write_all_of(fd, offset, data);
}

Status SparseWriter::append(std::string_view data) {
  if (data.empty()) return {};
  TRY(write_sparse_at(fd_, size_, data));
  may_end_in_hole_ = data.back() == '\0';
  size_ += data.size();
  return {};
}

Status SparseWriter::finish() {
  if (!may_end_in_hole_) return {};
  if (disk::ftruncate(fd_, static_cast<off_t>(size_)) != 0)
    return file_error(errno, "set the size of", shown(fd_));
  return {};
}

}  // namespace lockstep::io
