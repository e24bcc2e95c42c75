#pragma once
// The compiler's errors of a failed build. With a log file, pip writes them only there, and prints
// "See above for output".

#include <optional>
#include <string>

#include "envs/tool.h"

namespace lockstep::envs {

struct FailedBuild {
  std::string step;  // "Building wheel for x (pyproject.toml) exited with 1"
  Words output;      // its last lines, at most kMaxBuildLines
  Words deciding;    // those of them that say why, at most kMaxDecidingLines, the first ones first
};
inline constexpr std::size_t kMaxBuildLines = 2'000;
inline constexpr std::size_t kMaxDecidingLines = 8;
inline constexpr std::size_t kMaxDecidingBytes = 300;  // of a line

// Of a log file that pip wrote (PIP_LOG); nullopt: it tells of no build that failed. Written for
// pip 20 to 25: since 22 a failed step is marked "[present-rich]".
std::optional<FailedBuild> failed_build(const std::string& log);

}  // namespace lockstep::envs
