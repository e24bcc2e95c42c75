#pragma once
// All processes in /proc, and the descendants of a process.

#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

std::vector<int> all_pids();
// All descendants of `pid`, by the present parent links: a process whose parent has ended was
// reparented, so it and its descendants are not found.
std::vector<ProcessIdentity> descendants_of(int pid);

}  // namespace lockstep::io
