#pragma once
// Makes a private copy of a materialised tree. It shares blocks if the file system supports that
// (FICLONE), else copies them; it never makes hard links. Symlinks are copied, never followed.

#include <string>

#include "common/base/result.h"
#include "common/snapshot/materialize.h"

namespace lockstep::agent {

// `to` must not exist; its parent must exist, and `owner` must not be able to write to it. The copy
// belongs to `owner`; its top folder is closed to others until the copy is complete, and gets its
// owner last. On an error the caller removes the copy.
Status copy_tree(const std::string& from, const std::string& to, const snapshot::Owner& owner);

}  // namespace lockstep::agent
