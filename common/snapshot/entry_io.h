#pragma once
// Entries of a tree at any depth, also where their path is longer than the system takes at once
// (PATH_MAX), and what an error of one entry says about the others: usually nothing.

#include <string>

#include "common/io/file_system.h"

namespace lockstep::snapshot {

// `path` is relative to the open folder `root`; no symlink is followed in it. On failure it is
// closed and errno says why.
io::Fd open_entry(int root, const std::string& path, int flags);

// False: the error concerns the process or the machine, and the next entry would fail as well.
bool is_of_one_entry(int errnum);

// Why an entry was left out, for people ("permission denied").
std::string why_left_out(int errnum);

}  // namespace lockstep::snapshot
