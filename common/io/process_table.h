#pragma once
// All processes in /proc, and the descendants of a process.

#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

std::vector<int> all_pids();
// The children of `pid` and their descendants, except those that have got another parent since.
std::vector<ProcessIdentity> descendants_of(int pid);

}  // namespace lockstep::io
