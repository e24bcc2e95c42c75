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

// `pid` and its descendants, from the kernel's lists of each thread's children; /proc is searched
// only if the kernel has no such lists. Processes that fork or end meanwhile may be missing.
std::set<int> family_of(int pid);

}  // namespace lockstep::io
