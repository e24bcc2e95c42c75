#pragma once
// The folder in which the tools of an image's environment keep temporary files.

#include <string>

#include "common/base/result.h"
#include "envs/toolbox.h"

namespace lockstep::envs {

// The folder for temporary files of tools (TMPDIR).
Result<std::string> scratch_of(const Toolbox& tools);

}  // namespace lockstep::envs
