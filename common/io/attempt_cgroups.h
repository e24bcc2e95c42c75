#pragma once
// Cleans up the cgroups of an attempt whose runner has died. Each function may block for a moment
// and is idempotent: a cgroup that is gone counts as removed.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::io {

// Kills every process in the cgroups that the file names (one directory a line) and removes them.
Status clean_cgroups(const std::string& record_file);

// Whether a cgroup that the file names still exists. False when the file does not exist.
bool any_cgroup(const std::string& record_file);

// The same for a runner whose record file is gone: finds its cgroups by name, in every mounted
// hierarchy. `attempt`: the name of its attempt directory.
Status clean_cgroups_of(const std::string& attempt, int runner_pid);

// The name of such a cgroup: LEAD, the part's node rank, TAIL.
struct CgroupName {
  std::string lead, tail;
};
CgroupName cgroup_name(const std::string& attempt, int runner_pid);

}  // namespace lockstep::io
