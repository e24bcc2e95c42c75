#pragma once
// The lock of a launcher's home, for the daemon and for tools that need the daemon not to run.

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/io/file_system.h"
#include "launcher/home/layout.h"

namespace lockstep::launcher {

inline constexpr Duration kLockTimeout = seconds(10);

// Locks a home. Returns conflict, with the pid, if a daemon or a tool has it. A killed process may
// hold the lock until the last of its threads returns from the disk; that is waited for, up to
// `timeout`.
Result<io::FileLock> lock_home(const LauncherHome& home, Duration timeout = kLockTimeout);

// Finds a file or folder that is in a home only after its journal was on disk. "": there is none,
// so the home is new, or its first launcher was killed before it had a journal.
std::string sign_of_life(const LauncherHome& home);

// Checks a home. Returns not_found if the folder is not a launcher's home, permission_denied if it
// is not readable, unsupported if a newer version made it, and corrupt if its journal is lost.
Status expect_home(const LauncherHome& home);

}  // namespace lockstep::launcher
