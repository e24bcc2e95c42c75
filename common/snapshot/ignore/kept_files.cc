#include "common/snapshot/ignore/kept_files.h"

#include <algorithm>

namespace lockstep::snapshot {

KeepPatterns::KeepPatterns(const std::vector<std::string>& patterns) {
  const std::size_t count = std::min(patterns.size(), kMaxKeepPatterns);
  for (std::size_t i = 0; i < count; ++i) {
    patterns_.emplace_back("keep", "", patterns[i]);
    negative_[i] = patterns[i].starts_with('!');
  }
}

KeepPatterns::Matches KeepPatterns::match(std::string_view path, bool is_directory,
                                          const Matches& of_folder) const {
  Matches matches = of_folder;
  for (std::size_t i = 0; i < patterns_.size(); ++i)
    if (!matches[i]) matches[i] = patterns_[i].match(path, is_directory) != nullptr;
  return matches;
}

bool KeepPatterns::keeps(const Matches& matches) const {
  for (std::size_t i = patterns_.size(); i-- > 0;)
    if (matches[i]) return !negative_[i];
  return false;
}

std::vector<std::uint32_t> KeepPatterns::unmatched(const Matches& seen) const {
  std::vector<std::uint32_t> indexes;
  for (std::uint32_t i = 0; i < patterns_.size(); ++i)
    if (!negative_[i] && !seen[i]) indexes.push_back(i);
  return indexes;
}

}  // namespace lockstep::snapshot
