#pragma once
// All processes, as /proc has them: who there is, and who came of whom.

#include <vector>

#include "common/io/process.h"

namespace lockstep::io {

std::vector<int> all_pids();
// All that it started, and what these started, except what has got another parent since.
std::vector<ProcessIdentity> descendants_of(int pid);

}  // namespace lockstep::io
