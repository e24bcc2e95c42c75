#pragma once
// Which files a job's `keep` names (common/domain/keep.h), by git's rules for a pattern and a path.
// The last pattern that matches the path or one of its parent folders decides. Unlike in an ignore
// file, `!` can therefore exclude files of a folder that an earlier pattern names. Pure.

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/keep.h"
#include "common/snapshot/ignore.h"

namespace lockstep::snapshot {

class KeepPatterns {
 public:
  using Matches = std::bitset<kMaxKeepPatterns>;  // one for each pattern

  explicit KeepPatterns(const std::vector<std::string>& patterns);

  bool empty() const { return patterns_.empty(); }
  // Those that match this path, or matched a folder that it lies in.
  Matches match(std::string_view path, bool is_directory, const Matches& of_folder) const;
  // Whether a path with these matches is kept.
  bool keeps(const Matches& matches) const;
  // The patterns without `!` that matched nothing in `seen`.
  std::vector<std::uint32_t> unmatched(const Matches& seen) const;

 private:
  std::vector<IgnoreFile> patterns_;  // one pattern each
  Matches negative_;
};

}  // namespace lockstep::snapshot
