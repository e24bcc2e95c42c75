#pragma once
// The folders whose names others of the machine can guess, and what must hold before one is used:
// it belongs to us, nobody else may write to it, and no symlink stands in its place. Lockstep keeps
// nothing in /tmp under such a name, since whoever takes a name there first owns it.
//
//   /run/lockstep/jobs/<job>.<attempt>   where ranks see their working directory (attempt_dir.h):
//                                        of agents that run as root
//   ~/.lockstep/jobs/<job>.<attempt>     of another user's agents; without a home directory of its
//                                        own that user has /run/user/<uid>/lockstep/jobs, or none

#include <string>

#include "common/base/result.h"

namespace lockstep::io {

// The parent of the ranks' common paths, of the user that this process runs as; "": it has none.
std::string jobs_folder();

// Makes the last two names of `path`, a folder like jobs_folder()'s, where they are missing: open
// to look into for root's, closed for another's. permission_denied: one that is there is a symlink,
// belongs to another user, or others may write to it. What lies above must be trusted already.
Status make_private_folders(const std::string& path);

// Makes a daemon's home with exactly `mode`, or takes one that is there: one of ours that more
// people may read than `mode` says is mended. Returns what was mended, for the log; "": nothing.
// permission_denied: it belongs to another user, or others may write to it and so may have changed
// what it holds.
Result<std::string> secure_home(const std::string& path, int mode);

// A file that earlier versions left readable to others; one that is missing is fine.
Status close_to_others(const std::string& path);

}  // namespace lockstep::io
