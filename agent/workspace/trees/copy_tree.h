#pragma once
// Makes a private copy of a materialised tree. It shares blocks if the file system supports that
// (FICLONE); otherwise it copies them, without blocks of zeros. It never makes hard links. Symlinks
// are copied, never followed.

#include <string>

#include "agent/workspace/trees/shared_place.h"
#include "common/base/result.h"
#include "common/io/files/open_place.h"
#include "common/snapshot/checkout/materialize.h"

namespace lockstep::agent {

// Copies a tree. `to` must not exist; its parent must exist, and `owner` must not be able to write
// to it. The copy belongs to `owner`; its top folder is closed to others until the copy is
// complete, and gets its owner last. On an error the caller removes the copy.
Status copy_tree(const std::string& from, const std::string& to, const snapshot::Owner& owner);

// Copies an opened folder's entries, or an opened file as `file`, into the open folder `to`, with
// the rights of the calling thread: the owner of `to` owns the copy and may change it. `shown` is
// the path of the source. Pipes and devices are errors.
Status copy_opened(const io::OpenedPlace& from, const std::string& shown, const std::string& file,
                   int to);

// Copies the entries of the open folder `from` over the entries of the open folder `to`, or, with
// `only`, its file of this name as `file`. Each file is written under another name and renamed, so
// that nobody sees a part of it. Other entries of `to` stay. Uses the rights of the calling thread.
// `shared`: names the files if other nodes write to the same folder; null: an entry of the same
// name is replaced.
Status copy_over(int from, const std::string& only, const std::string& file, int to,
                 SharedPlace* shared);

}  // namespace lockstep::agent
