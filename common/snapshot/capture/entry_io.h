#pragma once
// Opens entries of a tree at any depth, also if their path is longer than PATH_MAX, and tells
// whether an error concerns only one entry.

#include <string>
#include <vector>

#include "common/io/file_system.h"

namespace lockstep::snapshot {

// Opens an entry. `path` is relative to the open folder `root`; no symlink in it is followed. On
// failure the returned Fd is empty and errno says why.
io::Fd open_entry(int root, const std::string& path, int flags);

struct FollowedLink;  // capture_options.h
// Opens a file that was captured, also below `followed` links (sorted by path): at the place to
// which the link led then, through no other symlink.
io::Fd open_captured(int root, const std::vector<FollowedLink>& followed, const std::string& path,
                     int flags);

// Whether an error concerns one entry alone. False: the process or the machine is out of a
// resource, so the next entry would fail as well.
bool is_of_one_entry(int errnum);

// Why an entry was left out, for people ("permission denied").
std::string why_left_out(int errnum);

}  // namespace lockstep::snapshot
