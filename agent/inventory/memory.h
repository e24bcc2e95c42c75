#pragma once
// The memory that this process may use: the machine's, or less when its cgroup says so.

#include <string>

#include "common/base/bytes.h"

namespace lockstep::agent {

struct MemoryProbe {
  Bytes usable;
  std::string limitation;  // "" or why it is less than the machine has
};

// `root`: "" or the root directory of a fake (proc/meminfo, proc/self/cgroup, sys/fs/cgroup).
MemoryProbe probe_memory(const std::string& root = "");

}  // namespace lockstep::agent
