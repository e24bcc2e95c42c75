#pragma once
// What is left of a part when its runner is gone: processes in its cgroups, mounts, directories.
// Each function may block for a moment and is idempotent: what is gone already is success.

#include <string>

#include "common/base/result.h"
#include "common/io/attempt_dir.h"

namespace lockstep::agent {

// Unmounts everything at or below `path` in our mount namespace, innermost first.
Status unmount_below(const std::string& path);

// What a part has beside its directory: cgroups, mounts, the mount point.
Status release_part(const io::AttemptDir& directory, const std::string& mount_point);
// All of it, with the attempt's directory.
Status remove_part(const io::AttemptDir& directory, const std::string& mount_point);

}  // namespace lockstep::agent
