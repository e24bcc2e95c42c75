#pragma once
// Writes new files without the blocks that would hold zeros alone, so that a file with holes takes
// no more space than it took where it was made.

#include <cstdint>
#include <string_view>

#include "common/base/result.h"

namespace lockstep::io {

inline constexpr std::uint64_t kHoleBytes = 4096;  // a hole begins and ends at its multiples

// Writes `data` at `offset` of a file that has nothing there yet. Blocks of zeros are left out,
// also at the end: the caller sets the size. Errors are those of write_all().
Status write_sparse_at(int fd, std::uint64_t offset, std::string_view data);

// Appends to a new, empty file, which the caller keeps open.
class SparseWriter {
 public:
  explicit SparseWriter(int fd) : fd_(fd) {}
  Status append(std::string_view data);
  // Gives the file its size. Call it after the last append().
  Status finish();
  std::uint64_t size() const { return size_; }

 private:
  const int fd_;
  std::uint64_t size_ = 0;
  bool may_end_in_hole_ = false;
};

}  // namespace lockstep::io
