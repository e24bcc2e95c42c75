#pragma once
// Empties and removes the cgroups of one attempt on one node after its runner has died. Each
// function may block for a moment and is idempotent: a missing cgroup is success.

#include <string>
#include <vector>

#include "common/base/result.h"

namespace lockstep::io {

// Kills every process in the cgroups that the file names (one directory per line) and removes the
// cgroups. Other lines are ignored. Returns unsupported, and kills nothing, if the file is not a
// regular one of root's or this account's.
Status clean_cgroups(const std::string& record_file);

// Whether a cgroup that the file names still exists. False when the file does not exist.
bool any_cgroup(const std::string& record_file);

// Kills and removes the cgroups of a runner whose attempt directory, and so its record, is gone.
// Finds them by their name in all mounted hierarchies. `attempt`: the name of that directory.
Status clean_cgroups_of(const std::string& attempt, int runner_pid);

// The directories that clean_cgroups_of would remove, in the order of a record's lines.
std::vector<std::string> cgroups_of(const std::string& attempt, int runner_pid);

// Names of an attempt's cgroups begin with `lead` and end with `tail`; between is the node rank.
struct CgroupName {
  std::string lead, tail;
};
CgroupName cgroup_name(const std::string& attempt, int runner_pid);

}  // namespace lockstep::io
