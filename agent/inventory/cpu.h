#pragma once
// The logical cpus that this process may use, and the numbers of their sockets and NUMA nodes.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::agent {

struct CpuProbe {
  std::vector<int> affinity;  // ids that this process may use, ascending
  std::vector<int> cpus;      // the first cpus, up to the cgroup's quota: the default offer
  int sockets = 1;
  int numa_nodes = 1;
  std::string limitation;  // "" or why there are fewer than the machine has
};

// Finds the cpus. `sys`: /sys, or a fake of it. `quota` in cpus, 0 = none.
CpuProbe probe_cpus(const std::string& sys = "/sys");

// Selects from `available` by a share's text (see Share::cpus): "" all, "3" the first three,
// "0-3,8" exactly these. `what` is the noun for errors ("cpus", "gpus").
Result<std::vector<int>> select(const std::vector<int>& available, const std::string& share,
                                const std::string& what);

// "0-3,8" -> {0,1,2,3,8}; invalid_argument otherwise.
Result<std::vector<int>> parse_list(const std::string& text);

// The cpu quota of this process's cgroup in cpus, rounded up; 0 = no limit. `root`: "", or the root
// directory of a fake machine, with /proc/self/cgroup and /sys/fs/cgroup.
int cpu_quota(const std::string& root = "");

}  // namespace lockstep::agent
