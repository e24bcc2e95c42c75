#pragma once
// The version of an on-disk tree, stored as text in a file of that tree.

#include <string>

#include "common/base/result.h"

namespace lockstep::io {

// The version in the file; 1 if the file does not exist, because the first trees had none.
Result<int> read_version(const std::string& path);
Status write_version(const std::string& path, int version);

// Checks a tree's version. Returns unsupported, with both versions, if it is newer than `ours`.
Status expect_version(const std::string& path, int ours, const std::string& what);
// Writes `ours` unless the file has it already. For trees whose older versions need no migration.
Status record_version(const std::string& path, int ours);

}  // namespace lockstep::io
