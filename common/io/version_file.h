#pragma once
// The version of an on-disk tree, as text in a file of it.

#include <string>

#include "common/base/result.h"

namespace lockstep::io {

// The version that the file names; 1 when there is no file: the tree is older than this file.
Result<int> read_version(const std::string& path);
Status write_version(const std::string& path, int version);

// unsupported, with both versions, when the tree is newer than `ours`.
Status expect_version(const std::string& path, int ours, const std::string& what);
// The file says `ours` when this returns: for trees whose older versions need no migration.
Status record_version(const std::string& path, int ours);

}  // namespace lockstep::io
