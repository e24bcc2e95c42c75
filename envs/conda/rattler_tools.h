#pragma once
// A Python that has py-rattler, so that a node needs no conda: made once for each user's package
// cache, at <cache>/tools/rattler-<version>. Made beside it and renamed when it is complete, so
// that whoever was killed leaves nothing that is taken for it; one at a time does that.

#include <string>

#include "envs/provider.h"

namespace lockstep::envs {

inline constexpr std::string_view kRattlerVersion = "0.28.0";

// The interpreter, ready for use. Errors say what the node lacks.
Result<std::string> rattler_python(Toolbox& tools, const std::string& cache);

}  // namespace lockstep::envs
