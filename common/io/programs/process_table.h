#pragma once
// All processes in /proc, and the descendants of a process.

#include <set>
#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

std::vector<int> all_pids();
// All descendants of `pid`, by the present parent links: a process whose parent has ended was
// reparented, so it and its descendants are not found.
std::vector<ProcessIdentity> descendants_of(int pid);

// `pid` and its descendants, by the lists of children that the kernel keeps of each thread: the
// rest of /proc is looked at only where the kernel has no such lists. What forks or ends meanwhile
// may be missing.
std::set<int> family_of(int pid);

}  // namespace lockstep::io
