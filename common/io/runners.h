#pragma once
// Finds runners by their command lines, also those whose attempt directory, and with it the pid
// file, is gone. For ending runners that neither agent nor launcher knows.

#include <string>
#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

struct Runner {
  ProcessIdentity process;
  std::string directory;  // of its attempt; may be gone
};

// Live runners whose attempt directory is, or was, below `folder` at any depth. A runner in a
// container whose path only looks the same is not among them.
std::vector<Runner> runners_below(const std::string& folder);

// Kills the runner and waits some seconds until its descendants and cgroups are gone too.
Status end_runner(const Runner& runner);

}  // namespace lockstep::io
