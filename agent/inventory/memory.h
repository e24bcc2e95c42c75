#pragma once
// The memory that this process may use: the machine's, or less if its cgroup has a limit.

#include <string>

#include "common/base/bytes.h"

namespace lockstep::agent {

struct MemoryProbe {
  Bytes usable;
  std::string limitation;  // "", or why it is less than the machine has
};

// `root`: "", or the root of a fake machine (proc/meminfo, proc/self/cgroup, sys/fs/cgroup).
MemoryProbe probe_memory(const std::string& root = "");

}  // namespace lockstep::agent
