#pragma once
// Finds where an attempt's cgroups can be made on this machine, from texts of /proc, and how their
// folders are called. Does no I/O.

#include <set>
#include <string>
#include <vector>

namespace lockstep::io {

// The folder for the cgroups of attempts (cgroups.cc) and the nurseries, below the program's
// cgroup.
inline constexpr char kOfAttempts[] = "/lockstep";
inline constexpr char kNurseryPrefix[] = "starting-";

struct CgroupHierarchy {
  int version = 1;
  std::string mount_point;            // /sys/fs/cgroup/memory
  std::string own;                    // directory of this process's cgroup in this hierarchy
  std::set<std::string> controllers;  // v1: memory, cpu, …; v2: left empty
  friend bool operator==(const CgroupHierarchy&, const CgroupHierarchy&) = default;
};

// Reads the texts of /proc/self/mountinfo and /proc/self/cgroup (cgroups(7)). A hierarchy whose
// mount does not show our own cgroup is left out.
std::vector<CgroupHierarchy> find_cgroup_hierarchies(const std::string& mountinfo,
                                                     const std::string& self_cgroup);

// The cgroup in which `cgroup` was made if it is a nursery; otherwise `cgroup` itself.
std::string outside_nursery(const std::string& cgroup);

}  // namespace lockstep::io
