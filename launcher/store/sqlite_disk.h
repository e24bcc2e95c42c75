#pragma once
// SQLite's files through the door (common/io/disk.h): a VFS in front of SQLite's own one for unix,
// which does the work. What a full, broken or read-only disk answers is thus the same for the
// journal as for all else, and can be put there by a test.

namespace lockstep::launcher {

// Registers it, once, and returns the name for sqlite3_open_v2.
const char* sqlite_disk();

// errno of the last call of this thread that failed there, once; 0: none since. SQLite itself
// forgets it in a commit.
int take_sqlite_errno();

}  // namespace lockstep::launcher
