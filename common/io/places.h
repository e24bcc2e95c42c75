#pragma once
// Folders with predictable names, and the conditions for using one: it belongs to us, nobody else
// may write to it, and it is not a symlink. Lockstep uses no predictable name in /tmp, where
// whoever creates a name first owns it.
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

// Makes the last two folders of `path` (as of jobs_folder()) if they are missing: readable by all
// for root, private for another user. permission_denied: one of them is a symlink, belongs to
// another user, or others may write to it. The folders above must be trusted already.
Status make_private_folders(const std::string& path);

// Makes a daemon's home with exactly `mode`. In one that exists, permissions that are wider than
// `mode` are taken away. Returns what was changed, for the log; "": nothing. permission_denied: it
// belongs to another user, or others may write to it and so may have changed its files.
Result<std::string> secure_home(const std::string& path, int mode);

// A file that earlier versions left readable to others; one that is missing is fine.
Status close_to_others(const std::string& path);

}  // namespace lockstep::io
