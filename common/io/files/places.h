#pragma once
// Folders whose names other users of the machine can guess. Before such a folder is used, it must
// belong to us, nobody else may be able to write to it, and it must not be a symlink. Lockstep uses
// no guessable name in /tmp, because whoever takes a name there first owns it.
//
//   /run/lockstep/jobs/<job>   ranks see their working directory here (attempt_dir.h) if the agent
//                              runs as root
//   ~/.lockstep/jobs/<job>     as above, if the agent runs as another user; a user without a home
//                              directory has /run/user/<uid>/lockstep/jobs, or none
//   /run/lockstep/a/<digest>   the same attempt's directory by a short path (short_path.h); others
//                              than root have ~/.lockstep/a or /run/user/<uid>/lockstep/a
//   …/<job>.lock               where runners can have no mounts of their own: working_place.h

#include <string>

#include "common/base/result.h"

namespace lockstep::io {

// The parent of the ranks' common paths for the user that this process runs as; "": this user has
// none.
std::string jobs_folder();

// The parent of short paths: it leaves 60 of the 107 bytes of a unix socket's path for names below
// <parent>/<8 digits>/tmp. "": this user has no folder that is short enough.
std::string short_paths_folder();

// Makes the last two folders of `path` (for example jobs_folder()) where they are missing: mode
// 0755 for root, 0700 for other users. permission_denied: one of them exists and is a symlink,
// belongs to another user, or others can write to it. The folders above must be trusted already.
Status make_private_folders(const std::string& path);

// Makes a daemon's home with exactly `mode`, or takes an existing one and corrects its mode.
// Returns a line for the log about a corrected mode; "": nothing was corrected. permission_denied:
// the home belongs to another user, or others can write to it and so may have changed its content.
Result<std::string> secure_home(const std::string& path, int mode);

// Writes a .gitignore into the home that leaves out all of it, if none is there: a home inside of a
// project would be a part of each snapshot of the code, with its keys, and with the snapshots that
// it keeps itself. A failure to write the file is ignored.
void leave_home_out_of_snapshots(const std::string& path);

// Checks that no other account can change the content of the folder `path`: it and every folder
// above it belong to us or to root, and others may write to none of them, except above it to a
// sticky folder such as /tmp. Returns permission_denied with the first folder that fails, or io if
// `path` is missing.
Status expect_unchangeable_by_others(const std::string& path);

// Makes a file readable to its owner only; earlier versions left it readable to others. A missing
// file is success.
Status close_to_others(const std::string& path);

}  // namespace lockstep::io
