#pragma once
// Patterns of files that a job keeps beside `./outputs`: `lockstep.keep` of a job file, `--keep`.
// They are gitignore's (common/snapshot/keep.h matches them) and concern what ranks make in the
// working directory.

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep {

inline constexpr std::size_t kMaxKeepPatterns = 100;
inline constexpr std::size_t kMaxKeepPatternBytes = 255;
inline constexpr std::size_t kMaxKeepStars = 8;  // in one pattern, "**" counted once

// "", or why no file can match it.
std::string fault_of_keep(const std::string& pattern);

// At most kMaxKeepPatterns, each without a fault, and not all of them with '!'.
Status validate_keep(const std::vector<std::string>& patterns);

}  // namespace lockstep
