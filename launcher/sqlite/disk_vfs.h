#pragma once
// Routes SQLite's file access through common/io/disk.h: a VFS in front of SQLite's own unix VFS,
// which does the work. So tests can inject a full, broken or read-only disk for the journal as for
// all other files.

namespace lockstep::launcher {

// Registers the VFS, once, and returns its name for sqlite3_open_v2.
const char* sqlite_disk();

// Returns and clears the errno of this thread's last failed call in the VFS; 0: none failed. It is
// needed because SQLite forgets the errno during a commit.
int take_sqlite_errno();

}  // namespace lockstep::launcher
