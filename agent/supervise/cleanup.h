#pragma once
// Removes the remains of a part after its runner has ended: processes in its cgroups, mounts,
// directories. Each function may block for a moment and is idempotent: it succeeds if there is
// nothing to remove.

#include <string>

#include "common/base/result.h"
#include "common/io/attempt/attempt_dir.h"

namespace lockstep::agent {

// Unmounts everything at or below `path` in our mount namespace, innermost first.
Status unmount_below(const std::string& path);

// Removes a part's cgroups, mounts and mount point, but not its directory.
Status release_part(const io::AttemptDir& directory, const std::string& mount_point);
// Does release_part, then removes the attempt's directory.
Status remove_part(const io::AttemptDir& directory, const std::string& mount_point);

}  // namespace lockstep::agent
