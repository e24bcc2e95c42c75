#pragma once
// Opens a path of a datastore's directory as a job's user would: with that user's rights, and below
// the directory only. So a name in a job file gives nobody more than the user's own `ls` would.

#include <string>

#include "common/base/result.h"
#include "common/domain/data/datastore.h"
#include "common/io/file_system.h"
#include "common/io/process.h"

namespace lockstep::io {

struct OpenedPlace {
  Fd fd;  // O_PATH
  bool is_folder = false;
};

// Opens a file or folder of a datastore. Symlinks are followed while they stay in the datastore's
// directory; on kernels without openat2 they are not followed. Errors: not_found: nothing is there;
// unavailable: the directory itself is missing; permission_denied: the user may not read it or,
// with `writable`, write to it; unsupported: it is neither a file nor a folder, or leads out of the
// directory.
Result<OpenedPlace> open_place(const DatastorePath& place, const User& user, bool writable);

// Opens the folder at that path, and makes those that are missing, as the user.
Result<Fd> make_place(const DatastorePath& place, const User& user);

// The file that an O_PATH descriptor names, opened with the rights of the calling thread.
Fd reopen(int fd, int flags);

}  // namespace lockstep::io
