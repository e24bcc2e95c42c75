#pragma once
// Patterns of files that a job keeps besides `./outputs`: `lockstep.keep` in a job file, or
// `--keep`. They have the syntax of .gitignore (common/snapshot/ignore/kept_files.h matches them)
// and apply to files that ranks make in the working directory.

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/domain/data/output_name.h"

namespace lockstep {

inline constexpr std::size_t kMaxKeepPatternBytes = 255;
inline constexpr std::size_t kMaxKeepStars = 8;  // the most stars in one pattern; "**" counts once

// Why the pattern is invalid; "" when it is valid.
std::string fault_of_keep(const std::string& pattern);

// Checks that there are at most kMaxKeepPatterns, that each is valid, and that not all begin with
// '!'.
Status validate_keep(const std::vector<std::string>& patterns);

}  // namespace lockstep
