#pragma once
// Finds runners by their command lines, also those whose attempt directory, and so their pid file,
// is gone. Used to end runners that no agent or launcher knows.

#include <string>
#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

struct Runner {
  ProcessIdentity process;
  std::string directory;  // of its attempt; may not exist any more
};

// The live runners whose attempt directory is, or was, at any depth below `folder`. A runner in a
// container that sees another folder under the same path is not among them.
std::vector<Runner> runners_below(const std::string& folder);

// Kills a runner, removes its cgroups, and waits some seconds until all its descendants have ended
// too.
Status end_runner(const Runner& runner);

}  // namespace lockstep::io
