#pragma once
// The cgroups of one attempt on one node, seen by whoever outlives its runner: emptied and removed.
// Each function may block for a moment and is idempotent: what is gone already is success.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::io {

// Kills every process in the cgroups that the file names (one directory a line) and removes them.
Status clean_cgroups(const std::string& record_file);

// Whether a cgroup that the file names still exists. False when the file does not exist.
bool any_cgroup(const std::string& record_file);

// The same for a runner whose record is gone, with its attempt's directory: its cgroups, by their
// name, wherever they are mounted. `attempt`: the name of that directory.
Status clean_cgroups_of(const std::string& attempt, int runner_pid);

// The name that these go by, LEAD…TAIL, with the part's rank of the node between.
struct CgroupName {
  std::string lead, tail;
};
CgroupName cgroup_name(const std::string& attempt, int runner_pid);

}  // namespace lockstep::io
