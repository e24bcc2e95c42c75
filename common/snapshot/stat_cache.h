#pragma once
// Remembers the digests of files: (device, inode, size, mtime, ctime) -> digest, in one cache file
// that is read and replaced as a whole. A damaged, missing or foreign cache file counts as empty.
// It does not store a file whose ctime was so recent when it was hashed that a later change might
// not change the ctime.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"

namespace lockstep::snapshot {

struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

class StatCache {
 public:
  struct Row {
    FileIdentity file;
    Digest digest;
  };
  static constexpr std::int64_t kTooYoungNs = 2'000'000'000;

  static StatCache load(const std::string& path);
  std::optional<Digest> find(const FileIdentity& file) const;
  std::size_t size() const { return rows_.size(); }
  // Replaces the cache file. `rows` may have any order. Rows with a ctime after `scanned_at_ns` -
  // kTooYoungNs are left out.
  static Status save(const std::string& path, std::vector<Row> rows, std::int64_t scanned_at_ns);

 private:
  std::vector<Row> rows_;  // sorted by file
};

}  // namespace lockstep::snapshot
