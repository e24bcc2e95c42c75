#pragma once
// A private copy of a materialised tree: blocks shared where the file system can (FICLONE), else
// copied. Never hard links. Symlinks are copied as they are and never followed.

#include <string>

#include "common/base/result.h"
#include "common/snapshot/materialize.h"

namespace lockstep::agent {

// `to` must not exist; its parent does, and `owner` cannot write to it. All of it belongs to
// `owner`; the top is closed to others until all is copied, and given away last. On an error the
// caller removes it.
Status copy_tree(const std::string& from, const std::string& to, const snapshot::Owner& owner);

}  // namespace lockstep::agent
