#pragma once
// A finished tree moved into a folder that people look at: folders are joined with those that are
// there, files and symlinks replace their namesakes one by one, each at once. No symlink of the
// target is followed, so that nothing lands outside it.

#include <string>

#include "common/base/result.h"

namespace lockstep::cli {

// `to` is made when it does not exist; both lie on one file system. `from` is left empty. conflict:
// something is in the way, and nothing was changed.
Status move_tree(const std::string& from, const std::string& to);

}  // namespace lockstep::cli
