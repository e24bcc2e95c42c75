#pragma once
// How a working directory can be put together on the file system of the attempts: an overlay over
// the immutable tree, else reflinks of its files, else copies. Tries each in a scratch directory.

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
