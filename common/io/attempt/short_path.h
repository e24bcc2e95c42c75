#pragma once
// A second, short path to an attempt's directory, which ranks are given for the paths below it.
// They may make unix sockets there, whose path has at most 107 bytes, and the directory's own path
// contains the agent's home and the job's name. The runner binds the short path in the mount
// namespace of its ranks; if there is none, it is a symlink.

#include <string>

#include "common/base/result.h"
#include "common/io/attempt/attempt_dir.h"

namespace lockstep::io {

// The short path: short_paths_folder()/<8 hexadecimal digits of the directory's digest>. It leaves
// 60 bytes for paths below tmp/. "": this user has no folder that is short enough.
std::string short_path(const AttemptDir& directory);
// The short path inside a container, whose folder need not be one that the agent's user can make.
std::string short_path_in_container(const AttemptDir& directory);

// Makes the symlink, or replaces one that is there.
Status link_short_path(const AttemptDir& directory);
// Removes it; does nothing if it does not exist.
void unlink_short_path(const AttemptDir& directory);

}  // namespace lockstep::io
