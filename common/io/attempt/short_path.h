#pragma once
// A second, short path to an attempt's directory, for the paths below it that ranks are given: what
// ranks put there may be a unix socket, whose path has at most 107 bytes, and the directory's own
// path has the agent's home and the job's name in it. The runner binds it in the mount namespace of
// its ranks; where there is none, it is a symlink.

#include <string>

#include "common/base/result.h"
#include "common/io/attempt/attempt_dir.h"

namespace lockstep::io {

// short_paths_folder()/<8 hexadecimal digits of the directory's digest>: 60 bytes stay for what
// comes below tmp/. "": this user has no such folder that is short enough.
std::string short_path(const AttemptDir& directory);
// In a container, where its folder need not be one that the agent's user can make.
std::string short_path_in_container(const AttemptDir& directory);

// Makes the symlink, or replaces one that is there.
Status link_short_path(const AttemptDir& directory);
// Removes it; where there is none, does nothing.
void unlink_short_path(const AttemptDir& directory);

}  // namespace lockstep::io
