#pragma once
// Decides which files a job's `keep` names (common/domain/job/keep.h), by git's rules for a pattern
// and a path. The last pattern that matches the path, or a folder that the path is in, decides. So,
// unlike in an ignore file, `!` can also exclude files in a folder that an earlier pattern names.
// Does no I/O.

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/job/keep.h"
#include "common/snapshot/ignore/ignore.h"

namespace lockstep::snapshot {

class KeepPatterns {
 public:
  using Matches = std::bitset<kMaxKeepPatterns>;  // one bit per pattern

  explicit KeepPatterns(const std::vector<std::string>& patterns);

  bool empty() const { return patterns_.empty(); }
  // The patterns that match this path or a folder that it is in. `of_folder`: the folder's matches.
  Matches match(std::string_view path, bool is_directory, const Matches& of_folder) const;
  // Whether a path with these matches is kept.
  bool keeps(const Matches& matches) const;
  // Indexes of the patterns without '!' that are not in `seen`.
  std::vector<std::uint32_t> unmatched(const Matches& seen) const;

 private:
  std::vector<IgnoreFile> patterns_;  // one pattern each
  Matches negative_;
};

}  // namespace lockstep::snapshot
