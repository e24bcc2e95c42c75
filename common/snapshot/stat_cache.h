#pragma once
// What was hashed before: (device, inode, size, mtime, ctime) -> digest, in one file that is read
// whole and replaced whole. A damaged, missing or foreign file is an empty cache. It never answers
// for a file whose ctime was so young when it was hashed that a later change could have gone
// unseen.

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
  // Replaces the file; `rows` in any order. Rows with a ctime after `scanned_at_ns` - 2 s are left
  // out.
  static Status save(const std::string& path, std::vector<Row> rows, std::int64_t scanned_at_ns);

 private:
  std::vector<Row> rows_;  // sorted by file
};

}  // namespace lockstep::snapshot
