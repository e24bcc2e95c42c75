#pragma once
// The logical cpus that this process may use, and how they are spread over sockets and NUMA nodes.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::agent {

struct CpuProbe {
  std::vector<int> affinity;  // ids, ascending, that this process may use
  std::vector<int> cpus;      // the same, cut to a cgroup's quota: what is offered by default
  int sockets = 1;
  int numa_nodes = 1;
  std::string limitation;  // "" or why there are fewer than the machine has
};

// `sys`: /sys, or a fake of it. `quota` in cpus, 0 = none.
CpuProbe probe_cpus(const std::string& sys = "/sys");

// Cuts `available` to what the share's text asks for (see Share::cpus): "" all, "3" the first
// three, "0-3,8" exactly these. `what` names the things in errors ("cpus", "gpus").
Result<std::vector<int>> select(const std::vector<int>& available, const std::string& share,
                                const std::string& what);

// "0-3,8" -> {0,1,2,3,8}; invalid_argument otherwise.
Result<std::vector<int>> parse_list(const std::string& text);

// Cpus that the cgroup of this process may use, rounded up; 0 = no limit. `root`: "" or a fake's
// root directory, under which /proc/self/cgroup and /sys/fs/cgroup lie.
int cpu_quota(const std::string& root = "");

}  // namespace lockstep::agent
