#pragma once
// Runners by their command lines: also those whose attempt directory is gone, of which no pid file
// tells any more. For whoever ends what an agent or a launcher does not know.

#include <string>
#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

struct Runner {
  ProcessIdentity process;
  std::string directory;  // of its attempt; may be gone
};

// Those that live and whose attempt directory lies, or lay, at any depth below `folder`. One in a
// container may have a folder of the same name that is another: it is none of them.
std::vector<Runner> runners_below(const std::string& folder);

// Kills it and waits, some seconds, until all that it started is gone as well, its cgroups too.
Status end_runner(const Runner& runner);

}  // namespace lockstep::io
