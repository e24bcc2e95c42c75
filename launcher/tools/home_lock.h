#pragma once
// The lock of a launcher's home, for the daemon and for who must be sure that there is none.

#include "common/base/result.h"
#include "common/io/file_system.h"
#include "launcher/home.h"

namespace lockstep::launcher {

// conflict, with its pid: a daemon has the home.
Result<io::FileLock> lock_home(const LauncherHome& home);

// not_found: this is no launcher's home. unsupported: a newer version's.
Status expect_home(const LauncherHome& home);

}  // namespace lockstep::launcher
