#pragma once
// Finds a failed build's output, such as the compiler's errors. If pip has a log file, it writes
// that output only there, and prints "See above for output".

#include <optional>
#include <string>

#include "envs/tool.h"

namespace lockstep::envs {

struct FailedBuild {
  std::string step;  // "Building wheel for x (pyproject.toml) exited with 1"
  Words output;      // the step's last lines, at most kMaxBuildLines
  Words deciding;    // the first lines of `output` that say why, at most kMaxDecidingLines
};
inline constexpr std::size_t kMaxBuildLines = 2'000;
inline constexpr std::size_t kMaxDecidingLines = 8;
inline constexpr std::size_t kMaxDecidingBytes = 300;  // the most bytes of a line

// Reads a log file of pip (PIP_LOG); nullopt: it reports no failed build. Written for pip 20 to 25:
// since 22 a failed step is marked "[present-rich]".
std::optional<FailedBuild> failed_build(const std::string& log);

}  // namespace lockstep::envs
