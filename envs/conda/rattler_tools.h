#pragma once
// A Python with py-rattler, so that a node needs no conda. It is installed once per user's package
// cache, at <cache>/tools/rattler-<version>: in a temporary folder that is renamed when complete,
// so that a killed build leaves no half-made one there. A lock lets one build at a time do that.

#include <string>

#include "envs/provider.h"

namespace lockstep::envs {

inline constexpr std::string_view kRattlerVersion = "0.28.0";

// The path of that Python, after installing it if needed. Errors say what the node needs.
Result<std::string> rattler_python(Toolbox& tools, const std::string& cache);

}  // namespace lockstep::envs
