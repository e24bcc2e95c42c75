#pragma once
// All processes of the machine and their parents, from /proc.

#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

std::vector<int> all_pids();
// The children of `pid`, their children and so on, except those that were reparented.
std::vector<ProcessIdentity> descendants_of(int pid);

}  // namespace lockstep::io
