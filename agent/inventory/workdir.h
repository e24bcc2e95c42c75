#pragma once
// How a working directory can be built on the file system of the attempts: as an overlay over the
// immutable tree; otherwise from reflinks of its files; otherwise from copies. Each way is tried in
// a scratch directory.

#include <string>
#include <vector>

namespace lockstep::agent {

struct WorkdirProbe {
  std::string mode;  // overlay | overlay-userns | reflink | copy
  std::vector<std::string> limitations;
};

// `home` must exist; a scratch directory in it is made and removed.
WorkdirProbe probe_workdir(const std::string& home);

}  // namespace lockstep::agent
