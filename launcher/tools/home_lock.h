#pragma once
// The lock of a launcher's home, for the daemon and for who must be sure that there is none.

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/file_system.h"
#include "launcher/daemon/launcher_home.h"

namespace lockstep::launcher {

inline constexpr Duration kLockTimeout = seconds(10);

// conflict, with its pid: a daemon, or one of its tools, has the home. One that was killed may hold
// it for a moment longer, until the last of its threads is back from the disk: that is waited for.
Result<io::FileLock> lock_home(const LauncherHome& home, Duration timeout = kLockTimeout);

// What is in a home only after its journal was on disk: a file or folder; "": nothing, so this is a
// new one, or its first launcher was killed before it had a journal.
std::string sign_of_life(const LauncherHome& home);

// not_found: this is no launcher's home. unsupported: a newer version's. corrupt: its journal is
// gone.
Status expect_home(const LauncherHome& home);

}  // namespace lockstep::launcher
