#pragma once
// Moves a finished tree into a folder of the user: merges folders with the existing ones, and
// replaces files and symlinks of the same name one by one, each atomically. No symlink in the
// target is followed, so that nothing is written outside it.

#include <string>

#include "common/base/result.h"

namespace lockstep::cli {

// Creates `to` if it does not exist; both must be on one file system. `from` is left empty.
// conflict: something is in the way, and nothing was changed.
Status move_tree(const std::string& from, const std::string& to);

}  // namespace lockstep::cli
